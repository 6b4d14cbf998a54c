"""Taking an action back: what the audit log and the server say about it, and the plan."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import TAKEN_BACK, UNRESTORABLE
from streamops.model.entries import PendingEntry
from streamops.model.wording import first_few, instant
from streamops.operations.planning import planned, times
from streamops.operations.undo.intent import UndoIntent


class UndoEvidence(Struct, frozen=True, kw_only=True):
    """What the audit log says was done, and what the server says has become of it.

    Attributes:
        identity: Which stream and group this is.
        operation: The operation that is taken back.
        at: When it began; None if that is no time.
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

    identity: StreamIdentity
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


def plan_undo(intent: UndoIntent, evidence: UndoEvidence) -> Plan:
    """Give rows back their owner, their idle time and their deliveries."""
    count = sum(evidence.restorable)
    at = "unknown time" if evidence.at is None else instant(evidence.at)
    first = {why: f" The first is {one}." for one, why in reversed(evidence.refused_sample)}
    return planned(
        intent,
        count,
        target=f"{intent.stream}/{intent.group}",
        sample=(f"{row.id} back to {row.consumer}, {times(row)}" for row in evidence.sample),
        effects=[
            TAKEN_BACK(count, f"{evidence.operation} of {at} by {evidence.by}", names=evidence.owners),
            "Their owner, time of last delivery and delivery count are restored.",
            "Their owners count as seen just now: an owner that is dead is reported again only after it has been idle for the threshold.",
        ]
        if count
        else (),
        warnings=[
            *(UNRESTORABLE[why](many, first.get(why, "")) for why, many in evidence.refused.items()),
            bool(evidence.absent_owners)
            and f"Created again, because the group has no such consumers now: {first_few(evidence.absent_owners)}.",
            evidence.recorded < evidence.counted and _of_unrecorded(evidence),
            not evidence.ended
            and "The action is still running, or was interrupted: what it does from now on is not undone.",
        ],
    )


def _of_unrecorded(evidence: UndoEvidence) -> str:
    """What the log does not report."""
    told = f"{evidence.recorded:,} of {evidence.counted:,}"
    if evidence.ended:
        return f"{told} entries are on record: the others cannot be restored."
    return (
        f"{told} planned entries are on record. If the action was interrupted, it may have changed "
        "more than was recorded: check what is pending afterwards."
    )
