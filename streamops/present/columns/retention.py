"""Retention policies at work: what ``trim --policies`` shows."""

from typing import Final

from streamops.model.retention import RetentionRow
from streamops.present.cells import NAME_WIDTH, NOT_THERE, count_cell, name_cell
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.text import safe

RETENTION_COLUMNS: Final[tuple[Column[RetentionRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream.",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="bound",
        title="BOUND",
        help="What its policy asks for.",
        cell=lambda row: Cell(row.bound),
        value=lambda row: row.bound,
        width=24,
        flexible=True,
        priority=1,
    ),
    Column(
        key="removable",
        title="AT MOST",
        help="Entries that may be trimmed, at most.",
        cell=lambda row: count_cell(row.removable) if row.plan else NOT_THERE,
        value=lambda row: row.removable if row.plan else None,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="removed",
        title="REMOVED",
        help="Entries trimmed; none where nothing was tried.",
        cell=lambda row: NOT_THERE if row.removed is None else count_cell(row.removed),
        value=lambda row: row.removed,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="held_back_by",
        title="HELD BACK BY",
        help="The group, and its consumer, that the rest is kept for; or that there is no group to ask.",
        cell=lambda row: Cell(safe(_held(row)), Tone.WARN) if _held(row) else NOT_THERE,
        value=lambda row: _held(row) or None,
        width=40,
        flexible=True,
        priority=2,
    ),
    Column(
        key="problem",
        title="PROBLEM",
        help="Why it could not be planned or applied.",
        cell=lambda row: Cell(safe(row.problem), Tone.CRITICAL) if row.problem else NOT_THERE,
        value=lambda row: row.problem or None,
        width=40,
        flexible=True,
        priority=1,
    ),
)


def _held(row: RetentionRow) -> str:
    return row.held_back_by
