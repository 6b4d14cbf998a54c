"""Making dead letters of pending entries: what the server says about them, and the plan."""

import shlex

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import NOT_PENDING
from streamops.model.entries import EntryId, PendingEntry
from streamops.model.wording import counted
from streamops.operations.dlq_add.intent import AddDeadLettersIntent
from streamops.operations.planning import planned, row_line, untouched


class AddDeadLettersEvidence(Struct, frozen=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        rows: Those that are pending, in the order asked for.
        existing: Which of those still exist as entries.
        other_groups: The stream's other groups.
        queue: The dead-letter queue.
    """

    identity: StreamIdentity
    rows: tuple[PendingEntry, ...]
    existing: frozenset[EntryId]
    other_groups: tuple[str, ...]
    queue: str


def plan_add_dead_letters(intent: AddDeadLettersIntent, evidence: AddDeadLettersEvidence) -> Plan:
    """Give up what is pending among the IDs given."""
    rows = evidence.rows
    gone = sum(row.id not in evidence.existing for row in rows)
    entries = counted(len(rows), "entry", "entries")
    return planned(
        intent,
        len(rows),
        sample=(row_line(row) for row in rows),
        effects=[
            bool(rows)
            and f"{entries} will be in {evidence.queue}, with the reason {intent.because}, and acknowledged for group {intent.group}.",
            untouched(evidence.other_groups if rows else ()),
            bool(rows) and f"`streamops replay {shlex.quote(evidence.queue)}` delivers them again.",
        ],
        loses=[],
        warnings=[
            NOT_PENDING(len(intent.ids) - len(rows)),
            bool(gone)
            and f"{counted(gone, 'entry is', 'entries are')} no longer in the stream: the dead letter has no fields.",
            bool(rows) and "A consumer that is still processing one of them may finish it.",
        ],
    )
