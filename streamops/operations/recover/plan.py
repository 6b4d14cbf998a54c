"""Refilling a lost Redis: what its log and what is left say, and the plan."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan
from streamops.model.effects import Said
from streamops.model.fields import Passing
from streamops.model.wording import counted, first_few, instant
from streamops.operations.planning import planned
from streamops.operations.recover.intent import RecoverIntent

UNIT: Final = ("message", "messages")


class LostMessage(Struct, frozen=True, kw_only=True):
    """A message that was accepted, and that nothing says was delivered.

    Attributes:
        topic: Its topic.
        id: Its ID.
        stream: The topic's stream.
        queue: The queue of delayed messages that it is added to.
        due: When it was due.
        fields: The fields of its entry.
    """

    topic: str
    id: str
    stream: str
    queue: str
    due: datetime
    fields: tuple[tuple[bytes, bytes], ...]


class RecoverEvidence(Struct, frozen=True, kw_only=True):
    """What the log says, held against what Redis holds.

    Attributes:
        digest: Digest of the messages that are missing.
        missing: Those messages, by stream and due time.
        accepted: Messages that the log says were accepted.
        delivered: Of these, those delivered.
        ended: Those given up or cancelled.
        held: Those that Redis holds.
        incomplete: Those that are missing, and whose body the log does not have.
        contexts: The contexts that the log names.
        unreadable: Lines that are no JSON.
    """

    digest: str
    missing: Passing[tuple[LostMessage, ...]] = ()
    accepted: Passing[int] = 0
    delivered: Passing[int] = 0
    ended: Passing[int] = 0
    held: Passing[int] = 0
    incomplete: int = 0
    contexts: tuple[str, ...] = ()
    unreadable: Passing[int] = 0


def plan_recover(intent: RecoverIntent, evidence: RecoverEvidence) -> Plan:
    """Add what is missing.

    Raises:
        Forbidden: The log has messages of several contexts, and the intent names none.
    """
    if intent.lost is None and len(evidence.contexts) > 1:
        raise Forbidden(
            f"{intent.file} has messages of several contexts: {first_few(evidence.contexts)}",
            "Name the lost one with --lost CONTEXT, and connect to it with --context.",
        )
    missing = evidence.missing
    return planned(
        intent,
        len(missing),
        target=intent.file,
        unit=UNIT,
        sample=(f"{one.topic} {one.id}, due {instant(one.due)}" for one in missing),
        effects=_effects(evidence),
        warnings=[
            evidence.incomplete
            and f"{counted(evidence.incomplete, *UNIT)} cannot be added: the log has no whole body of them "
            "(--log-bodies was off or too small, or a secret was redacted).",
            evidence.unreadable
            and f"{counted(evidence.unreadable, 'line is', 'lines are')} no JSON, and may have been of messages.",
        ],
    )


def _effects(evidence: RecoverEvidence) -> Iterator[Said]:
    yield (
        f"Of {counted(evidence.accepted, *UNIT)} accepted, {evidence.delivered:,} were delivered, {evidence.ended:,} "
        f"given up or cancelled, and {evidence.held:,} are still in Redis."
    )
    if evidence.missing:
        yield f"The others are added to {first_few(sorted({one.queue for one in evidence.missing}))}."
        yield "A message whose result was not logged may be called twice; receivers recognise it by X-Streamops-Id."
