"""Dead-letter queues: what ``dlq ls`` and ``dlq show`` tell of each as a whole."""

from typing import Final

from streamops.present.cells import NAME_WIDTH, NOT_THERE, count_cell, duration_cell, name_cell, seconds
from streamops.present.letters import QueueRow, ReasonRow, reasons_text
from streamops.present.table import Align, Cell, Column
from streamops.present.units import percent

REASONS_WIDTH: Final = 40


def _optional(name: str | None) -> Cell:
    return name_cell(name) if name else NOT_THERE


DEAD_LETTER_QUEUE_COLUMNS: Final[tuple[Column[QueueRow], ...]] = (
    Column(
        key="queue",
        title="QUEUE",
        help="The dead-letter queue.",
        source="streams whose names end in :dlq, or that the configuration names",
        cell=lambda row: name_cell(row.queue.queue),
        value=lambda row: row.queue.queue,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="length",
        title="LETTERS",
        help="How many letters it holds.",
        source="XLEN",
        cell=lambda row: count_cell(row.queue.length),
        value=lambda row: row.queue.length,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="source",
        title="SOURCE",
        help="The stream that it serves, by its name or the configuration.",
        source="the queue's name, or the configuration's dead_letters",
        cell=lambda row: _optional(row.queue.source),
        value=lambda row: row.queue.source,
        width=NAME_WIDTH,
        flexible=True,
        priority=2,
    ),
    Column(
        key="oldest_age_seconds",
        title="OLDEST",
        help="Time since its first letter died, by that letter's ID.",
        source="TIME, minus the time in the first letter's ID",
        cell=lambda row: duration_cell(row.oldest_age) if row.queue.length else NOT_THERE,
        value=lambda row: seconds(row.oldest_age),
        width=8,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="newest_age_seconds",
        title="NEWEST",
        help="Time since its last letter died, by that letter's ID.",
        source="TIME, minus the time in the last letter's ID",
        cell=lambda row: duration_cell(row.newest_age) if row.queue.length else NOT_THERE,
        value=lambda row: seconds(row.newest_age),
        width=8,
        align=Align.RIGHT,
    ),
    Column(
        key="reasons",
        title="REASONS",
        help="What its letters died of, with ~ where only some of them were looked at.",
        source="the field _so_reason of the newest letters (XREVRANGE)",
        cell=lambda row: Cell(reasons_text(row.queue)),
        value=lambda row: reasons_text(row.queue),
        width=REASONS_WIDTH,
        flexible=True,
        priority=1,
    ),
    Column(
        key="reasons_coverage",
        title="COVERAGE",
        help="The share of its letters that the reasons were counted over.",
        source="letters looked at, over XLEN",
        cell=lambda row: Cell(percent(row.queue.coverage)),
        value=lambda row: round(row.queue.coverage, 4),
        width=8,
        align=Align.RIGHT,
        priority=3,
    ),
)

REASON_COLUMNS: Final[tuple[Column[ReasonRow], ...]] = (
    Column(
        key="reason",
        title="REASON",
        help="Why letters died, in one word.",
        source="the field _so_reason of the letters",
        cell=lambda row: _optional(row.reason),
        value=lambda row: row.reason,
        width=20,
        priority=0,
    ),
    Column(
        key="letters",
        title="LETTERS",
        help="How many of those looked at.",
        source="counted",
        cell=lambda row: count_cell(row.letters),
        value=lambda row: row.letters,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="share",
        title="SHARE",
        help="Their share of those looked at.",
        source="counted",
        cell=lambda row: Cell(percent(row.share, rounded=True)),
        value=lambda row: round(row.share, 4),
        width=6,
        align=Align.RIGHT,
        descending=True,
    ),
)
