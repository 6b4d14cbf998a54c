"""Adding, switching and removing topics: what the server says about them, and the plans."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import Forbidden
from streamops.model.acting import Impact, Plan
from streamops.model.topics import Topic, described, require_topic
from streamops.model.wording import command, counted
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import fingerprint
from streamops.operations.topics.intent import (
    AddTopicIntent,
    RemoveTopicIntent,
    TopicOffIntent,
    TopicOnIntent,
)


class TopicEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a topic.

    Attributes:
        kept: The topic as it is kept; none where there is none, or none that can be read.
        digest: Digest of what is kept; empty where there is nothing.
        wanted: The topic as it shall be; none where it shall be removed.
        waiting: Delayed messages of its stream; none where that is not known.
        entries: Entries of its stream that its group has not acknowledged; none where that is not known.
    """

    kept: Topic | None
    digest: str
    wanted: Topic | None = None
    waiting: int | None = None
    entries: int | None = None


UNIT: Final = ("topic", "topics")
SOON: Final = "Those who run `streamops topics serve` notice within a second or so."
UNSIGNED: Final = "Calls are not signed: a receiver cannot tell who sends them; --secret-file signs them."
PLAIN: Final = "Calls go over plain HTTP: whoever is between can read and change them."


def plan_add_topic(intent: AddTopicIntent, evidence: TopicEvidence) -> Plan:
    """Keep a topic; raises ``SettingsError`` for all that is wrong with it, ``Forbidden`` where there is one."""
    wanted = _wanted(evidence)
    require_topic(wanted)
    if evidence.digest and not intent.replace:
        raise Forbidden(
            f"there is a topic {wanted.name}", "Nothing was done. --replace puts this one in its place."
        )
    return Plan(
        operation="topics.add",
        target=wanted.name,
        impact=Impact.REVERSIBLE,
        count=1,
        unit=UNIT,
        sample=tuple(described(wanted, evidence.kept)),
        effects=(_added(wanted, evidence), SOON),
        command=equivalent_command("topics.add", replace(intent, callback=wanted.shown_url)),
        warnings=tuple(_warnings(wanted)),
        fingerprint=fingerprint(wanted.name, evidence.digest),
    )


def plan_remove_topic(intent: RemoveTopicIntent, evidence: TopicEvidence) -> Plan:
    """Keep a topic no more; its messages stay where they are."""
    waiting = _waiting(evidence)
    stay = f"Its {waiting} stay where they are, and nobody calls them." if waiting else ""
    effects = ("Its messages are not called any more, and no new ones are taken in.", stay, SOON)
    return Plan(
        operation="topics.rm",
        target=intent.name,
        impact=Impact.DESTRUCTIVE,
        count=1,
        unit=UNIT,
        sample=tuple(described(evidence.kept, None)) if evidence.kept else (),
        effects=tuple(filter(None, effects)),
        loses="What the topic says, its headers and its secret.",
        command=equivalent_command("topics.rm", intent),
        confirm=intent.name,
        fingerprint=fingerprint(intent.name, evidence.digest),
    )


def plan_topic_off(intent: TopicOffIntent, evidence: TopicEvidence) -> Plan:
    """Stop calling a topic's messages; they are still taken in, and wait."""
    waiting = _waiting(evidence)
    told = f"Its {waiting} wait until it is on again" if waiting else "Its messages wait until it is on again"
    return _switched("topics.off", intent.name, evidence, f"{told}; new ones are still taken in.")


def plan_topic_on(intent: TopicOnIntent, evidence: TopicEvidence) -> Plan:
    """Call a topic's messages again."""
    waiting = _waiting(evidence)
    return _switched(
        "topics.on", intent.name, evidence, f"Its {waiting or 'messages'} are called, as they are due."
    )


def _switched(operation: str, name: str, evidence: TopicEvidence, effect: str) -> Plan:
    wanted = _wanted(evidence)
    changes = evidence.kept is None or evidence.kept.enabled != wanted.enabled
    other = "on" if operation.endswith("off") else "off"
    return Plan(
        operation=operation,
        target=name,
        impact=Impact.REVERSIBLE,
        count=int(changes),
        unit=UNIT,
        sample=(f"{name}: {wanted.shown_url}",) if changes else (),
        effects=(effect, SOON) if changes else (),
        opposite=command(f"topics {other}", name),
        command=command(operation.replace(".", " "), name),
        fingerprint=fingerprint(name, evidence.digest),
    )


def _wanted(evidence: TopicEvidence) -> Topic:
    if evidence.wanted is None:
        raise Forbidden("the topic that is kept cannot be read", "Remove it, and add it anew.")
    return evidence.wanted


def _added(topic: Topic, evidence: TopicEvidence) -> str:
    verb = "replaced" if evidence.digest else "added"
    if not topic.enabled:
        return f"The topic is {verb}; its messages wait until it is switched on."
    return f"The topic is {verb}; messages of {topic.key} are called back to {topic.shown_url}."


def _warnings(topic: Topic) -> Iterator[str]:
    if topic.url.startswith("http:"):
        yield PLAIN
    if topic.secret is None:
        yield UNSIGNED


def _waiting(evidence: TopicEvidence) -> str:
    parts = (
        counted(evidence.waiting, "delayed message", "delayed messages") if evidence.waiting else "",
        counted(evidence.entries, "entry", "entries") if evidence.entries else "",
    )
    return " and ".join(filter(None, parts))
