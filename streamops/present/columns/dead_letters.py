"""Dead-letter queues: what ``dlq ls`` and ``dlq show`` tell of each as a whole."""

from typing import Final

from streamops.model.entries import StreamEntry
from streamops.present.cells import (
    NAME_WIDTH,
    NOT_THERE,
    count_cell,
    duration_cell,
    id_cell,
    name_cell,
    seconds,
)
from streamops.present.dead_letters import DeadLetterRow, QueueRow, ReasonRow, reasons_text
from streamops.present.entries import preview
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.text import safe
from streamops.present.units import percent, rfc3339, timestamp

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
        help="How many dead letters it holds.",
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
        help="The stream whose dead letters it holds, by its name or the configuration.",
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
        help="Age of its first dead letter, by that dead letter's ID.",
        source="TIME, minus the time in the first dead letter's ID",
        cell=lambda row: duration_cell(row.oldest_age) if row.queue.length else NOT_THERE,
        value=lambda row: seconds(row.oldest_age),
        width=8,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="newest_age_seconds",
        title="NEWEST",
        help="Age of its last dead letter, by that dead letter's ID.",
        source="TIME, minus the time in the last dead letter's ID",
        cell=lambda row: duration_cell(row.newest_age) if row.queue.length else NOT_THERE,
        value=lambda row: seconds(row.newest_age),
        width=8,
        align=Align.RIGHT,
    ),
    Column(
        key="reasons",
        title="REASONS",
        help="Reasons of its dead letters, with ~ where only some of them were read.",
        source="the field _so_reason of the newest dead letters (XREVRANGE)",
        cell=lambda row: Cell(reasons_text(row.queue)),
        value=lambda row: reasons_text(row.queue),
        width=REASONS_WIDTH,
        flexible=True,
        priority=1,
    ),
    Column(
        key="reasons_coverage",
        title="COVERAGE",
        help="The share of its dead letters that the reasons were counted over.",
        source="dead letters read, over XLEN",
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
        help="Why entries were dead-lettered, in one word.",
        source="the field _so_reason of the dead letters",
        cell=lambda row: _optional(row.reason),
        value=lambda row: row.reason,
        width=20,
        priority=0,
    ),
    Column(
        key="letters",
        title="LETTERS",
        help="How many of those read.",
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
        help="Their share of those read.",
        source="counted",
        cell=lambda row: Cell(percent(row.share, rounded=True)),
        value=lambda row: round(row.share, 4),
        width=6,
        align=Align.RIGHT,
        descending=True,
    ),
)

PREVIEW_WIDTH: Final = 50
ERROR_WIDTH: Final = 30


def _preview(row: DeadLetterRow) -> str:
    return preview(StreamEntry(row.letter.id, row.letter.fields))


DEAD_LETTER_COLUMNS: Final[tuple[Column[DeadLetterRow], ...]] = (
    Column(
        key="id",
        title="ID",
        help="The dead letter's ID in the queue.",
        source="XRANGE of the queue",
        cell=lambda row: id_cell(row.letter.id),
        value=lambda row: str(row.letter.id),
        rank=lambda row: row.letter.id,
        width=20,
        priority=0,
    ),
    Column(
        key="age_seconds",
        title="AGE",
        help="Time since the entry was dead-lettered, by the dead letter's ID.",
        source="TIME, minus the time in the dead letter's ID",
        cell=lambda row: duration_cell(row.age),
        value=lambda row: seconds(row.age),
        width=8,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="reason",
        title="REASON",
        help="Why it was dead-lettered, in one word.",
        source="its field _so_reason, or reason of a foreign dead letter",
        cell=lambda row: _optional(row.letter.reason),
        value=lambda row: row.letter.reason,
        width=16,
        priority=0,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The group that gave it up.",
        source="its field _so_group",
        cell=lambda row: _optional(row.letter.group),
        value=lambda row: row.letter.group,
        width=14,
        priority=1,
    ),
    Column(
        key="deliveries",
        title="DELIV",
        help="How often it had been delivered.",
        source="its field _so_deliveries",
        cell=lambda row: NOT_THERE if row.letter.deliveries is None else count_cell(row.letter.deliveries),
        value=lambda row: row.letter.deliveries,
        width=5,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="replays",
        title="REPLAYS",
        help="How often it was replayed before.",
        source="its fields _so_replay_of",
        cell=lambda row: Cell(f"{row.letter.replays:,}", Tone.WARN if row.letter.replays else Tone.DIM),
        value=lambda row: row.letter.replays,
        width=7,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="error",
        title="ERROR",
        help="The last error in words.",
        source="its field _so_error",
        cell=lambda row: Cell(safe(row.letter.problem or row.letter.error)),
        value=lambda row: row.letter.problem or row.letter.error,
        width=ERROR_WIDTH,
        flexible=True,
        priority=1,
    ),
)

DEAD_LETTER_DETAIL_COLUMNS: Final[tuple[Column[DeadLetterRow], ...]] = (
    Column(
        key="queue",
        title="QUEUE",
        help="The dead-letter queue.",
        source="streams whose names end in :dlq, or that the configuration names",
        cell=lambda row: name_cell(row.letter.queue),
        value=lambda row: row.letter.queue,
        width=NAME_WIDTH,
    ),
    Column(
        key="shape",
        title="SHAPE",
        help="Who wrote it: ours, foreign ({orig_id, reason, payload}), or plain: an entry as it stands.",
        source="which fields it has",
        cell=lambda row: Cell(row.letter.shape),
        value=lambda row: row.letter.shape,
        width=8,
    ),
    Column(
        key="origin",
        title="ORIGIN",
        help="The stream that it came from; by the queue's name where it does not say.",
        source="its field _so_origin, else the queue's name or the configuration",
        cell=lambda row: _optional(row.letter.origin),
        value=lambda row: row.letter.origin,
        width=NAME_WIDTH,
    ),
    Column(
        key="origin_id",
        title="ORIGIN ID",
        help="Its entry's ID there.",
        source="its field _so_origin_id, or orig_id of a foreign dead letter",
        cell=lambda row: id_cell(row.letter.origin_id),
        value=lambda row: None if row.letter.origin_id is None else str(row.letter.origin_id),
        width=20,
    ),
    Column(
        key="consumer",
        title="CONSUMER",
        help="The consumer that tried last.",
        source="its field _so_consumer",
        cell=lambda row: _optional(row.letter.consumer),
        value=lambda row: row.letter.consumer,
        width=NAME_WIDTH,
    ),
    Column(
        key="attempt",
        title="ATTEMPT",
        help="How often it had been tried.",
        source="its field _so_attempt",
        cell=lambda row: NOT_THERE if row.letter.attempt is None else count_cell(row.letter.attempt),
        value=lambda row: row.letter.attempt,
        width=7,
        align=Align.RIGHT,
    ),
    Column(
        key="failed_at",
        title="FAILED AT",
        help="When it was given up, in UTC.",
        source="its field _so_failed_at, else its ID",
        cell=lambda row: NOT_THERE if row.letter.failed_at is None else Cell(timestamp(row.letter.failed_at)),
        value=lambda row: None if row.letter.failed_at is None else rfc3339(row.letter.failed_at),
        width=20,
    ),
    Column(
        key="payload_key",
        title="PAYLOAD",
        help="The key of a payload that is kept beside the stream.",
        source="its field _so_payload",
        cell=lambda row: _optional(row.letter.payload_key),
        value=lambda row: row.letter.payload_key,
        width=NAME_WIDTH,
    ),
    Column(
        key="preview",
        title="CONTENT",
        help="The entry's own first fields and values.",
        source="the dead letter without its own fields",
        cell=lambda row: Cell(_preview(row)),
        value=_preview,
        width=PREVIEW_WIDTH,
        flexible=True,
    ),
)
