"""Giving pending entries back: what the server says about them, and the plan."""

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import ELSEWHERE, GIVEN_BACK, NOT_PENDING
from streamops.model.entries import PendingEntry
from streamops.operations.nack.intent import NackIntent
from streamops.operations.planning import planned, row_line


class NackEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        rows: Those that can be given back, in the order asked for.
        absent: How many of the IDs are not pending in the group.
        elsewhere: How many are owned by another consumer than was asked for.
    """

    identity: StreamIdentity
    rows: tuple[PendingEntry, ...]
    absent: int
    elsewhere: int


def plan_nack(intent: NackIntent, evidence: NackEvidence) -> Plan:
    """Let other consumers have entries at once, without waiting for them to look abandoned."""
    count = len(evidence.rows)
    one = count == 1
    still = (
        f"A worker that is still processing {'it' if one else 'one of them'} can acknowledge it; until "
        "then it may be processed twice."
    )
    undo = (
        "`streamops undo` restores its owner and idle time, unless it was delivered by then."
        if one
        else "`streamops undo` restores their owners and idle times, except of those delivered by then."
    )
    return planned(
        intent,
        count,
        sample=map(row_line, evidence.rows),
        effects=[
            GIVEN_BACK(count, group=intent.group),
            "Delivery counts stay; each further delivery counts towards the consumers' limit.",
            still,
        ]
        if count
        else (),
        warnings=[NOT_PENDING(evidence.absent), ELSEWHERE(evidence.elsewhere)],
        undo=undo if count else "",
    )
