"""Dead-letter queues: what ``dlq ls`` and ``dlq show`` tell of each as a whole."""

from typing import Final

from streamops.model.entries import StreamEntry
from streamops.resources.cells import (
    NAME_WIDTH,
    NOT_THERE,
    duration_cell,
    seconds,
)
from streamops.resources.columns.kinds import of_rows
from streamops.resources.dead_letters import DeadLetterRow, QueueRow, ReasonRow, reasons_text
from streamops.resources.entries import preview
from streamops.resources.table import Align, Cell, Column, Tone
from streamops.resources.units import percent

REASONS_WIDTH: Final = 40


QUEUE = of_rows(QueueRow)
REASON = of_rows(ReasonRow, "counted")
DEAD_LETTER = of_rows(DeadLetterRow)

DEAD_LETTER_QUEUE_COLUMNS: Final[tuple[Column[QueueRow], ...]] = (
    QUEUE.text("queue", "QUEUE", NAME_WIDTH, lambda row: row.queue.queue, flexible=True, priority=0).means(
        "The dead-letter queue.", "streams whose names end in :dlq, or that the configuration names"
    ),
    QUEUE.count("length", "LETTERS", 9, lambda row: row.queue.length, priority=0).means(
        "How many dead letters it holds.", "XLEN"
    ),
    QUEUE.text("source", "SOURCE", NAME_WIDTH, lambda row: row.queue.source, flexible=True, priority=2).means(
        "The stream whose dead letters it holds, by its name or the configuration.",
        "the queue's name, or the configuration's dead_letters",
    ),
    QUEUE.column(
        "oldest_age_seconds",
        "OLDEST",
        8,
        lambda row: seconds(row.oldest_age),
        lambda row: duration_cell(row.oldest_age) if row.queue.length else NOT_THERE,
        align=Align.RIGHT,
        descending=True,
    ).means(
        "Age of its first dead letter, by that dead letter's ID.",
        "TIME, minus the time in the first dead letter's ID",
    ),
    QUEUE.column(
        "newest_age_seconds",
        "NEWEST",
        8,
        lambda row: seconds(row.newest_age),
        lambda row: duration_cell(row.newest_age) if row.queue.length else NOT_THERE,
        align=Align.RIGHT,
    ).means(
        "Age of its last dead letter, by that dead letter's ID.",
        "TIME, minus the time in the last dead letter's ID",
    ),
    QUEUE.text(
        "reasons", "REASONS", REASONS_WIDTH, lambda row: reasons_text(row.queue), flexible=True, priority=1
    ).means(
        "Reasons of its dead letters, with ~ where only some of them were read.",
        "the field _so_reason of the newest dead letters (XREVRANGE)",
    ),
    QUEUE.share(
        "reasons_coverage", "COVERAGE", 8, lambda row: row.queue.coverage, descending=False, priority=3
    ).means(
        "The share of its dead letters that the reasons were counted over.", "dead letters read, over XLEN"
    ),
)

REASON_COLUMNS: Final[tuple[Column[ReasonRow], ...]] = (
    REASON.text("reason", "REASON", 20, lambda row: row.reason, priority=0).means(
        "Why entries were dead-lettered, in one word.", "the field _so_reason of the dead letters"
    ),
    REASON.count("letters", "LETTERS", 9, lambda row: row.letters, priority=0).means(
        "How many of those read."
    ),
    REASON.column(
        "share",
        "SHARE",
        6,
        lambda row: round(row.share, 4),
        lambda row: Cell(percent(row.share, rounded=True)),
        align=Align.RIGHT,
        descending=True,
    ).means("Their share of those read."),
)

PREVIEW_WIDTH: Final = 50
ERROR_WIDTH: Final = 30


def _preview(row: DeadLetterRow) -> str:
    return preview(StreamEntry(row.letter.id, row.letter.fields))


DEAD_LETTER_COLUMNS: Final[tuple[Column[DeadLetterRow], ...]] = (
    DEAD_LETTER.id("id", "ID", 20, lambda row: row.letter.id, priority=0).means(
        "The dead letter's ID in the queue.", "XRANGE of the queue"
    ),
    DEAD_LETTER.age("age_seconds", "AGE", 8, lambda row: row.age).means(
        "Time since the entry was dead-lettered, by the dead letter's ID.",
        "TIME, minus the time in the dead letter's ID",
    ),
    DEAD_LETTER.text("reason", "REASON", 16, lambda row: row.letter.reason, priority=0).means(
        "Why it was dead-lettered, in one word.", "its field _so_reason, or reason of a foreign dead letter"
    ),
    DEAD_LETTER.text("group", "GROUP", 14, lambda row: row.letter.group, priority=1).means(
        "The group that gave it up.", "its field _so_group"
    ),
    DEAD_LETTER.count(
        "deliveries", "DELIV", 5, lambda row: row.letter.deliveries, absent=True, priority=2
    ).means("How often it had been delivered.", "its field _so_deliveries"),
    DEAD_LETTER.column(
        "replays",
        "REPLAYS",
        7,
        lambda row: row.letter.replays,
        lambda row: Cell(f"{row.letter.replays:,}", Tone.WARN if row.letter.replays else Tone.DIM),
        align=Align.RIGHT,
        descending=True,
        priority=2,
    ).means("How often it was replayed before.", "its fields _so_replay_of"),
    DEAD_LETTER.text(
        "error",
        "ERROR",
        ERROR_WIDTH,
        lambda row: row.letter.problem or row.letter.error,
        flexible=True,
        priority=1,
    ).means("The last error in words.", "its field _so_error"),
)

DEAD_LETTER_DETAIL_COLUMNS: Final[tuple[Column[DeadLetterRow], ...]] = (
    DEAD_LETTER.text("queue", "QUEUE", NAME_WIDTH, lambda row: row.letter.queue).means(
        "The dead-letter queue.", "streams whose names end in :dlq, or that the configuration names"
    ),
    DEAD_LETTER.text("shape", "SHAPE", 8, lambda row: row.letter.shape).means(
        "Who wrote it: ours, foreign ({orig_id, reason, payload}), or plain: an entry as it stands.",
        "which fields it has",
    ),
    DEAD_LETTER.text("origin", "ORIGIN", NAME_WIDTH, lambda row: row.letter.origin).means(
        "The stream that it came from; by the queue's name where it does not say.",
        "its field _so_origin, else the queue's name or the configuration",
    ),
    DEAD_LETTER.id("origin_id", "ORIGIN ID", 20, lambda row: row.letter.origin_id).means(
        "Its entry's ID there.", "its field _so_origin_id, or orig_id of a foreign dead letter"
    ),
    DEAD_LETTER.text("consumer", "CONSUMER", NAME_WIDTH, lambda row: row.letter.consumer).means(
        "The consumer that tried last.", "its field _so_consumer"
    ),
    DEAD_LETTER.count(
        "attempt", "ATTEMPT", 7, lambda row: row.letter.attempt, absent=True, descending=False
    ).means("How often it had been tried.", "its field _so_attempt"),
    DEAD_LETTER.moment("failed_at", "FAILED AT", 20, lambda row: row.letter.failed_at, absent=True).means(
        "When it was given up, in UTC.", "its field _so_failed_at, else its ID"
    ),
    DEAD_LETTER.text("payload_key", "PAYLOAD", NAME_WIDTH, lambda row: row.letter.payload_key).means(
        "The key of a payload that is kept beside the stream.", "its field _so_payload"
    ),
    DEAD_LETTER.text("preview", "CONTENT", PREVIEW_WIDTH, _preview, flexible=True).means(
        "The entry's own first fields and values.", "the dead letter without its own fields"
    ),
)
