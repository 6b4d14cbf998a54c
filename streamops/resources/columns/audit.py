"""Actions of the audit log: what ``audit ls`` shows."""

from typing import Final

from streamops.model.acting import Action
from streamops.resources.cells import NAME_WIDTH
from streamops.resources.columns.kinds import of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe


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


ACTION = of_rows(Action, "the audit log, the stream streamops:audit")

AUDIT_COLUMNS: Final[tuple[Column[Action], ...]] = (
    ACTION.text("audit_id", "AUDIT ID", 18, lambda row: row.first.id, priority=0).means(
        "The action's ID: `streamops audit ls --id` shows it whole, `streamops undo` takes it back."
    ),
    ACTION.moment("at", "TIME", 20, lambda row: row.first.at, priority=2).means(
        "When it began, by the server's clock."
    ),
    ACTION.text(
        "who",
        "WHO",
        14,
        lambda row: f"{row.first.actor.user}@{row.first.actor.host}",
        flexible=True,
        priority=1,
    ).means("The operating system's user and the machine."),
    ACTION.text(
        "context", "CONTEXT", 12, lambda row: row.first.actor.context or None, flexible=True, priority=4
    ).means("The context in use, or the server's address."),
    ACTION.text("operation", "OPERATION", 14, lambda row: row.first.operation or None, priority=0).means(
        "What was done."
    ),
    ACTION.text(
        "target", "TARGET", NAME_WIDTH, lambda row: row.first.target or None, flexible=True, priority=0
    ).means("What it was done to."),
    ACTION.count(
        "planned",
        "PLANNED",
        8,
        lambda row: row.first.plan.count if row.first.plan else None,
        descending=False,
        priority=3,
    ).means("How many entries, groups or consumers the plan counted."),
    ACTION.count("applied", "APPLIED", 8, applied, descending=False, priority=1).means(
        "How many it was done to; unknown until it has ended."
    ),
    ACTION.column(
        "outcome", "OUTCOME", 16, lambda row: ending(row).text, ending, flexible=True, priority=1
    ).means("How it ended; not known while it runs, or where its process ended before it could say so."),
    ACTION.text(
        "reason", "REASON", 16, lambda row: row.first.reason or None, flexible=True, priority=3
    ).means("Why, in the words of --reason."),
    ACTION.text("undone_by", "UNDONE BY", 18, lambda row: row.first.undone_by or None, priority=2).means(
        "The action that took it back."
    ),
    ACTION.text("continues", "CONTINUES", 18, lambda row: row.first.continues or None, priority=4).means(
        "The action whose job it resumed."
    ),
)
