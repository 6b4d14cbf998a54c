"""Acknowledging pending entries by hand: what the server says about them, and the plan."""

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import ACKNOWLEDGED, NOT_PENDING, ROWS_LOST
from streamops.model.entries import EntryId, PendingEntry
from streamops.operations.ack.intent import AckIntent
from streamops.operations.planning import planned, row_line, untouched


class AckEvidence(Struct, frozen=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        rows: Those that are pending, in the order asked for.
        existing: Which of those still exist as entries.
        other_groups: The stream's other groups.
    """

    identity: StreamIdentity
    rows: tuple[PendingEntry, ...]
    existing: frozenset[EntryId]
    other_groups: tuple[str, ...]


def plan_ack(intent: AckIntent, evidence: AckEvidence) -> Plan:
    """Acknowledge what is pending among the IDs given."""
    rows = evidence.rows
    return planned(
        intent,
        len(rows),
        sample=(row_line(row, idle=False) for row in rows),
        effects=[
            ACKNOWLEDGED(len(rows), group=intent.group, names=sorted({row.consumer for row in rows})),
            untouched(evidence.other_groups if rows else ()),
        ],
        loses=[ROWS_LOST(sum(row.id not in evidence.existing for row in rows))],
        warnings=[NOT_PENDING(len(intent.ids) - len(rows))],
    )
