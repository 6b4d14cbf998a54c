"""What retention policies came to: the columns."""

from typing import Final

from streamops.model.retention import RetentionRow
from streamops.resources.kinds import NAME_WIDTH, NOT_THERE, count_cell, of_rows
from streamops.resources.table import Align, Column, Tone

RETENTION = of_rows(RetentionRow)


RETENTION_COLUMNS: Final[tuple[Column[RetentionRow], ...]] = (
    RETENTION.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream, flexible=True, priority=0).means(
        "The stream."
    ),
    RETENTION.text("bound", "BOUND", 24, lambda row: row.bound, flexible=True, priority=1).means(
        "What its policy asks for."
    ),
    RETENTION.column(
        "removable",
        "AT MOST",
        9,
        lambda row: row.removable if row.plan else None,
        lambda row: count_cell(row.removable) if row.plan else NOT_THERE,
        align=Align.RIGHT,
        descending=True,
        priority=0,
    ).means("Entries that may be trimmed, at most."),
    RETENTION.count("removed", "REMOVED", 9, lambda row: row.removed, absent=True, priority=0).means(
        "Entries trimmed; absent if nothing was tried."
    ),
    RETENTION.text(
        "held_back_by",
        "HELD BACK BY",
        40,
        lambda row: _held(row) or None,
        tone=Tone.WARN,
        flexible=True,
        priority=2,
    ).means("The group, and its consumer, that the rest is kept for; or that there is no group to ask."),
    RETENTION.text(
        "problem",
        "PROBLEM",
        40,
        lambda row: row.problem or None,
        tone=Tone.CRITICAL,
        flexible=True,
        priority=1,
    ).means("Why it could not be planned or applied."),
)


def _held(row: RetentionRow) -> str:
    return row.held_back_by
