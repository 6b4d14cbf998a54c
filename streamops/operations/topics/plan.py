"""Adding, switching and removing topics: what the server says about them, and the plans."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import Forbidden
from streamops.model.acting import Plan
from streamops.model.effects import TOPIC_DELAYED, TOPIC_ENTRIES, Effect
from streamops.model.fields import Passing
from streamops.model.topics import Topic, described, require_topic
from streamops.model.wording import command, counted
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import planned
from streamops.operations.topics.intent import (
    AddTopicIntent,
    RemoveTopicIntent,
    TopicOffIntent,
    TopicOnIntent,
)


class TopicEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a topic.

    Attributes:
        kept: The topic as it is kept; None if there is none, or none that can be read.
        digest: Digest of what is kept; empty if there is nothing.
        wanted: The topic as it shall be; None if it shall be removed.
        waiting: Delayed messages of its stream; None if that is not known.
        entries: Entries of its stream that its group has not acknowledged; None if that is not known.
    """

    kept: Topic | None
    digest: str
    wanted: Topic | None = None
    waiting: Passing[int | None] = None
    entries: Passing[int | None] = None


UNIT: Final = ("topic", "topics")
SOON: Final = "`streamops webhooks serve` notices within a second or so."
UNSIGNED: Final = "Calls are not signed: a receiver cannot tell who sends them; --secret-file signs them."
PLAIN: Final = "Calls use plain HTTP: others on the network can read and change them."


def plan_add_topic(intent: AddTopicIntent, evidence: TopicEvidence) -> Plan:
    """Keep a topic; raises ``SettingsError`` for all that is wrong with it, ``Forbidden`` if there is one."""
    wanted = _wanted(evidence)
    require_topic(wanted)
    if evidence.digest and not intent.replace:
        raise Forbidden(
            f"there is already a topic {wanted.name}",
            "Nothing was done. --replace puts this one in its place.",
        )
    then = (
        f"messages of {wanted.key} are sent to {wanted.shown_url}"
        if wanted.enabled
        else "its messages wait until it is resumed"
    )
    return planned(
        intent,
        1,
        target=wanted.name,
        unit=UNIT,
        sample=described(wanted, evidence.kept),
        effects=[f"The topic is {'replaced' if evidence.digest else 'added'}; {then}.", SOON],
        warnings=[wanted.url.startswith("http:") and PLAIN, wanted.secret is None and UNSIGNED],
        command=equivalent_command(intent.operation, replace(intent, callback=wanted.shown_url)),
    )


def plan_remove_topic(intent: RemoveTopicIntent, evidence: TopicEvidence) -> Plan:
    """Keep a topic no more; its messages stay where they are."""
    waiting = _waiting(evidence)
    return planned(
        intent,
        1,
        unit=UNIT,
        sample=described(evidence.kept, None) if evidence.kept else (),
        effects=[
            "Its messages are no longer sent, and new ones are refused.",
            waiting and f"Its {waiting} stay where they are and are not sent.",
            SOON,
        ],
        loses=["The topic's settings, headers and secret."],
        facts=_counts(evidence),
    )


def plan_topic_off(intent: TopicOffIntent, evidence: TopicEvidence) -> Plan:
    """Stop calling a topic's messages; they are still taken in, and wait."""
    what = _waiting(evidence) or "messages"
    return _switched(
        intent,
        evidence,
        f"Its {what} wait until it is resumed; new ones are still accepted.",
        back="webhooks resume",
    )


def plan_topic_on(intent: TopicOnIntent, evidence: TopicEvidence) -> Plan:
    """Resume a paused topic."""
    what = _waiting(evidence) or "messages"
    return _switched(intent, evidence, f"Its {what} are sent as they become due.", back="webhooks pause")


def _switched(
    intent: TopicOffIntent | TopicOnIntent, evidence: TopicEvidence, effect: str, *, back: str
) -> Plan:
    wanted = _wanted(evidence)
    changes = evidence.kept is None or evidence.kept.enabled != wanted.enabled
    return planned(
        intent,
        int(changes),
        unit=UNIT,
        sample=[f"{intent.name}: {wanted.shown_url}"] if changes else (),
        effects=[effect, SOON] if changes else (),
        opposite=command(back, intent.name),
        facts=_counts(evidence),
    )


def _wanted(evidence: TopicEvidence) -> Topic:
    if evidence.wanted is None:
        raise Forbidden("the topic that is kept cannot be read", "Remove it, and create it again.")
    return evidence.wanted


def _counts(evidence: TopicEvidence) -> list[Effect | None]:
    return [TOPIC_DELAYED(evidence.waiting or 0), TOPIC_ENTRIES(evidence.entries or 0)]


def _waiting(evidence: TopicEvidence) -> str:
    delayed, entries = evidence.waiting or 0, evidence.entries or 0
    parts = [delayed and counted(delayed, "delayed message", "delayed messages")]
    parts.append(entries and counted(entries, "entry", "entries"))
    return " and ".join(str(part) for part in parts if part)
