"""Taking an action back: what the audit log and the server say about it, and the plan."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.entries import PendingEntry
from streamops.model.wording import counted, first_few
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import fingerprint, sample
from streamops.operations.undo.intent import UndoIntent


class UndoEvidence(Struct, frozen=True, kw_only=True):
    """What the audit log says was done, and what the server says has become of it.

    Attributes:
        identity: Which stream and group this is.
        operation: The operation that is taken back.
        at: When it began; none where that is no time.
        by: Who did it.
        ended: Whether it has come to an end.
        restorable: Of each row, in the order of the log, whether it can be given back what it had: 1 or 0.
        owners: How many of them by owner, most first.
        absent_owners: Owners among them that are no consumers of the group any more.
        sample: The first few of them, as they were before.
        refused: How many rows cannot, by why.
        refused_sample: The first few of those, each with why.
        recorded: How many rows its records hold.
        counted: How many units it did, as it told at its end; without one, how many it had planned.
    """

    identity: Identity
    operation: str
    at: datetime | None
    by: str
    ended: bool
    restorable: bytes
    owners: tuple[tuple[str, int], ...]
    absent_owners: tuple[str, ...]
    sample: tuple[PendingEntry, ...]
    refused: Mapping[str, int]
    refused_sample: tuple[tuple[str, str], ...]
    recorded: int = 0
    counted: int = 0


WHY_REFUSED: Final[Mapping[str, str]] = {
    "gone": "not pending any more",
    "owner": "owned by somebody else by now",
    "delivered": "delivered or claimed again since",
    "missing": "its entry no longer exists",
    "same": "given back what it had already",
}
"""What the script says of rows that it leaves alone, in words."""


def plan_undo(intent: UndoIntent, evidence: UndoEvidence) -> Plan:
    """Give rows back their owner, their idle time and their deliveries."""
    count = sum(evidence.restorable)
    return Plan(
        operation="undo",
        target=f"{intent.stream}/{intent.group}",
        impact=Impact.REVERSIBLE,
        count=count,
        sample=sample(
            f"{row.id} back to {row.consumer}, delivered {counted(row.delivery_count, 'time', 'times')}"
            for row in evidence.sample
        ),
        effects=tuple(_effects(evidence, count)) if count else (),
        command=equivalent_command("undo", intent),
        confirm=intent.stream,
        warnings=tuple(_warnings(evidence)),
        fingerprint=fingerprint(str(intent.audit_id), evidence.restorable),
    )


def _effects(evidence: UndoEvidence, count: int) -> Iterator[str]:
    to = first_few([f"{name} ({number:,})" for name, number in evidence.owners])
    what = f"{evidence.operation} of {_written(evidence.at)} by {evidence.by}"
    yield f"Takes back {what}: {counted(count, 'entry', 'entries')} of {to}."
    yield "They get their owner, their time of last delivery and their deliveries back."
    yield "Those owners will look as if they had been seen just now."


def _warnings(evidence: UndoEvidence) -> Iterator[str]:
    if evidence.refused:
        number = sum(evidence.refused.values())
        reasons = ", ".join(f"{many:,} {WHY_REFUSED[why]}" for why, many in evidence.refused.items())
        first, why = evidence.refused_sample[0]
        yield (
            f"{counted(number, 'entry', 'entries')} cannot be restored and will be left alone: {reasons}. "
            f"The first is {first}: {WHY_REFUSED[why]}."
        )
    if evidence.absent_owners:
        names = first_few(evidence.absent_owners)
        yield f"No consumers of the group any more, and created again: {names}."
    if evidence.recorded < evidence.counted:
        yield _of_unrecorded(evidence)
    if not evidence.ended:
        yield "The action has not come to its end, or was cut off: what it still does is not taken back."


def _of_unrecorded(evidence: UndoEvidence) -> str:
    """What the log does not tell of."""
    told = f"{evidence.recorded:,} of {evidence.counted:,}"
    if evidence.ended:
        return f"{told} entries are on record: the others cannot be restored by this."
    return (
        f"{told} planned entries are on record. Where the action was cut off, some more may have been done of which "
        "there is none: look at what is pending afterwards."
    )


def _written(at: datetime | None) -> str:
    return "unknown time" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"
