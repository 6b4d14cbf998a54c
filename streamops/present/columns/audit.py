"""Actions of the audit log: what ``audit ls`` shows."""

from typing import Final

from streamops.model.acting import Action
from streamops.present.cells import NAME_WIDTH, NOT_THERE, count_cell, name_cell
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.text import safe
from streamops.present.units import rfc3339, timestamp


def ending(action: Action) -> Cell:
    """How an action ended, in a few words."""
    if action.last is None:
        return Cell("not told", Tone.UNKNOWN)
    outcome = action.last.outcome
    if outcome is None:
        return Cell("not understood", Tone.UNKNOWN)
    if outcome.stopped:
        return Cell(safe(f"stopped: {outcome.stopped}"), Tone.WARN)
    if outcome.failed_count:
        return Cell(f"done, {outcome.failed_count:,} failed", Tone.CRITICAL)
    if outcome.skipped_count:
        return Cell(f"done, {outcome.skipped_count:,} skipped", Tone.OK)
    return Cell("done", Tone.OK)


def applied(action: Action) -> int | None:
    """How many units were done; none where that is not known."""
    last = action.last
    return None if last is None or last.outcome is None else last.outcome.applied


AUDIT_COLUMNS: Final[tuple[Column[Action], ...]] = (
    Column(
        key="audit_id",
        title="AUDIT ID",
        help="The action's ID: `streamops audit ls --id` shows it whole, `streamops undo` takes it back.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: Cell(row.first.id),
        value=lambda row: row.first.id,
        width=18,
        priority=0,
    ),
    Column(
        key="at",
        title="TIME",
        help="When it began, by the server's clock.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: Cell(timestamp(row.first.at)),
        value=lambda row: None if row.first.at is None else rfc3339(row.first.at),
        width=20,
        priority=2,
    ),
    Column(
        key="who",
        title="WHO",
        help="The operating system's user and the machine.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: name_cell(f"{row.first.actor.user}@{row.first.actor.host}"),
        value=lambda row: f"{row.first.actor.user}@{row.first.actor.host}",
        width=14,
        flexible=True,
        priority=1,
    ),
    Column(
        key="context",
        title="CONTEXT",
        help="The context in use, or the server's address.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: name_cell(row.first.actor.context),
        value=lambda row: row.first.actor.context or None,
        width=12,
        flexible=True,
        priority=4,
    ),
    Column(
        key="operation",
        title="OPERATION",
        help="What was done.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: name_cell(row.first.operation) if row.first.operation else NOT_THERE,
        value=lambda row: row.first.operation or None,
        width=14,
        priority=0,
    ),
    Column(
        key="target",
        title="TARGET",
        help="What it was done to.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: name_cell(row.first.target) if row.first.target else NOT_THERE,
        value=lambda row: row.first.target or None,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="planned",
        title="PLANNED",
        help="How many entries, groups or consumers the plan counted.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: count_cell(row.first.plan.count if row.first.plan else None),
        value=lambda row: row.first.plan.count if row.first.plan else None,
        width=8,
        align=Align.RIGHT,
        priority=3,
    ),
    Column(
        key="applied",
        title="APPLIED",
        help="How many it was done to; unknown until it has ended.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: count_cell(applied(row)),
        value=applied,
        width=8,
        align=Align.RIGHT,
        priority=1,
    ),
    Column(
        key="outcome",
        title="OUTCOME",
        help="How it ended; not known while it runs, or where its process ended before it could say so.",
        source="the audit log, the stream streamops:audit",
        cell=ending,
        value=lambda row: ending(row).text,
        width=16,
        flexible=True,
        priority=1,
    ),
    Column(
        key="reason",
        title="REASON",
        help="Why, in the words of --reason.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: Cell(safe(row.first.reason)),
        value=lambda row: row.first.reason or None,
        width=16,
        flexible=True,
        priority=3,
    ),
    Column(
        key="undone_by",
        title="UNDONE BY",
        help="The action that took it back.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: Cell(row.first.undone_by) if row.first.undone_by else NOT_THERE,
        value=lambda row: row.first.undone_by or None,
        width=18,
        priority=2,
    ),
    Column(
        key="continues",
        title="CONTINUES",
        help="The action whose job it resumed.",
        source="the audit log, the stream streamops:audit",
        cell=lambda row: Cell(row.first.continues) if row.first.continues else NOT_THERE,
        value=lambda row: row.first.continues or None,
        width=18,
        priority=4,
    ),
)
