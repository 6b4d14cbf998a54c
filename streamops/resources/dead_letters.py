"""Dead letters, their queues and reasons: rows, columns and JSON."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.model.dead_letters import DeadLetter, DeadLetterShape, QueueSummary
from streamops.model.entries import StreamEntry, id_age
from streamops.model.json_text import Json, text_json
from streamops.resources.entries import fields_json
from streamops.resources.kinds import NAME_WIDTH, NOT_THERE, duration_cell, id_text, of_rows, seconds
from streamops.resources.payloads import preview
from streamops.resources.table import Align, Cell, Column, Resource, Tone
from streamops.resources.text import safe
from streamops.resources.units import percent, rfc3339


class QueueRow(Struct, frozen=True):
    """A dead-letter queue as a whole."""

    queue: QueueSummary

    @property
    def oldest_age(self) -> timedelta | None:
        """Time since its first letter died; None if there is none, or that is not known."""
        queue = self.queue
        return None if queue.oldest_id is None else id_age(queue.oldest_id, queue.now)

    @property
    def newest_age(self) -> timedelta | None:
        """Time since its last letter died."""
        queue = self.queue
        return None if queue.newest_id is None else id_age(queue.newest_id, queue.now)


class DeadLetterRow(Struct, frozen=True):
    """A dead letter and the time by the server's clock; None if that may not be asked."""

    letter: DeadLetter
    now: datetime | None

    @property
    def age(self) -> timedelta | None:
        """Time since the entry was dead-lettered, by the dead letter's ID."""
        return id_age(self.letter.id, self.now)


class ReasonRow(Struct, frozen=True):
    """A reason, and how many of the letters looked at died of it."""

    reason: str
    letters: int
    share: float


def reason_rows(queue: QueueSummary) -> tuple[ReasonRow, ...]:
    """One row a reason, the most frequent first."""
    tally = queue.tally
    return tuple(
        ReasonRow(reason, number, number / max(1, tally.letters)) for reason, number in tally.reasons
    )


def reasons_text(queue: QueueSummary) -> str:
    """Reasons with their numbers on one line, ``~`` before them where not all letters were looked at."""
    about = "" if queue.coverage == 1 else "~"
    return ", ".join(f"{safe(reason) or 'none'} {about}{number:,}" for reason, number in queue.tally.reasons)


def queue_row_json(row: QueueRow) -> Json:
    """A queue with everything that is known about it."""
    queue = row.queue
    return {
        "queue": text_json(queue.queue),
        "length": queue.length,
        "source": None if queue.source is None else text_json(queue.source),
        "oldest_id": id_text(queue.oldest_id),
        "oldest_age_seconds": seconds(row.oldest_age),
        "newest_id": id_text(queue.newest_id),
        "newest_age_seconds": seconds(row.newest_age),
        "reasons": [
            {"reason": text_json(reason), "letters": number} for reason, number in queue.tally.reasons
        ],
        "reasons_coverage": round(queue.coverage, 4),
    }


def dead_letter_json(row: DeadLetterRow) -> Json:
    """A letter with everything that it says."""
    letter = row.letter
    return {
        "queue": text_json(letter.queue),
        "id": str(letter.id),
        "age_seconds": seconds(row.age),
        "shape": letter.shape,
        "reason": text_json(letter.reason),
        "error": text_json(letter.error),
        "group": None if letter.group is None else text_json(letter.group),
        "consumer": None if letter.consumer is None else text_json(letter.consumer),
        "deliveries": letter.deliveries,
        "attempt": letter.attempt,
        "replays": letter.replays,
        "origin": None if letter.origin is None else text_json(letter.origin),
        "origin_id": id_text(letter.origin_id),
        "failed_at": None if letter.failed_at is None else rfc3339(letter.failed_at),
        "payload_key": None if letter.payload_key is None else text_json(letter.payload_key),
        "problem": letter.problem,
        **fields_json(letter.fields),
    }


REASONS_WIDTH: Final = 20


QUEUE = of_rows(QueueRow)


REASON = of_rows(ReasonRow, "counted")


DEAD_LETTER = of_rows(DeadLetterRow)


DEAD_LETTER_QUEUE_COLUMNS: Final[tuple[Column[QueueRow], ...]] = (
    QUEUE.text("queue", "QUEUE", NAME_WIDTH, lambda row: row.queue.queue, flexible=True, priority=0).means(
        "The dead-letter queue.", "streams whose names end in :dlq, or that the configuration names"
    ),
    QUEUE.count("length", "ENTRIES", 9, lambda row: row.queue.length, priority=0).means(
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
        "reasons", "REASONS", REASONS_WIDTH, lambda row: reasons_text(row.queue), flexible=True, priority=0
    ).means(
        "Dead letters by reason; ~ if only some of them were read.",
        "the field _so_reason of the newest dead letters (XREVRANGE)",
    ),
    QUEUE.share(
        "reasons_coverage", "COUNTED", 8, lambda row: row.queue.coverage, descending=False, priority=3
    ).means(
        "The share of its dead letters that the reasons were counted over.", "dead letters read, over XLEN"
    ),
)


REASON_COLUMNS: Final[tuple[Column[ReasonRow], ...]] = (
    REASON.text("reason", "REASON", 20, lambda row: row.reason, priority=0).means(
        "Why entries were dead-lettered, in one word.", "the field _so_reason of the dead letters"
    ),
    REASON.count("letters", "ENTRIES", 9, lambda row: row.letters, priority=0).means(
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
        "The group that dead-lettered it.", "its field _so_group"
    ),
    DEAD_LETTER.count(
        "deliveries", "DELIV", 5, lambda row: row.letter.deliveries, absent=True, priority=2
    ).means("Deliveries before it was dead-lettered.", "its field _so_deliveries"),
    DEAD_LETTER.column(
        "replays",
        "REPLAYS",
        7,
        lambda row: row.letter.replays,
        lambda row: Cell(f"{row.letter.replays:,}", Tone.WARN if row.letter.replays else Tone.DIM),
        align=Align.RIGHT,
        descending=True,
        priority=2,
    ).means("How often it was replayed.", "its fields _so_replay_of"),
    DEAD_LETTER.text(
        "error",
        "ERROR",
        ERROR_WIDTH,
        lambda row: row.letter.problem or row.letter.error,
        flexible=True,
        priority=1,
    ).means("The last error in words.", "its field _so_error"),
)


FORMATS: Final = {DeadLetterShape.OURS: "streamops", DeadLetterShape.FOREIGN: "another program"}


def _format(row: DeadLetterRow) -> Cell:
    return Cell(FORMATS.get(row.letter.shape, row.letter.shape))


DEAD_LETTER_DETAIL_COLUMNS: Final[tuple[Column[DeadLetterRow], ...]] = (
    DEAD_LETTER.text("queue", "QUEUE", NAME_WIDTH, lambda row: row.letter.queue).means(
        "The dead-letter queue.", "streams whose names end in :dlq, or that the configuration names"
    ),
    DEAD_LETTER.column("shape", "FORMAT", 9, lambda row: row.letter.shape, _format).means(
        "Who wrote it: streamops, another program ({orig_id, reason, payload}), or plain: an unchanged entry.",
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
        "The consumer of the last attempt.", "its field _so_consumer"
    ),
    DEAD_LETTER.count(
        "attempt", "ATTEMPT", 7, lambda row: row.letter.attempt, absent=True, descending=False
    ).means("Attempts before it was dead-lettered.", "its field _so_attempt"),
    DEAD_LETTER.moment("failed_at", "FAILED AT", 20, lambda row: row.letter.failed_at, absent=True).means(
        "When it was dead-lettered, in UTC.", "its field _so_failed_at, else its ID"
    ),
    DEAD_LETTER.text("payload_key", "PAYLOAD", NAME_WIDTH, lambda row: row.letter.payload_key).means(
        "The key of a payload that is stored outside the stream.", "its field _so_payload"
    ),
    DEAD_LETTER.text("preview", "CONTENT", PREVIEW_WIDTH, _preview, flexible=True).means(
        "The entry's own first fields and values.", "the dead letter without its own fields"
    ),
)


def _queue_words(row: QueueRow) -> str:
    queue = row.queue
    return " ".join([queue.queue, queue.source or "", *(reason for reason, _ in queue.tally.reasons)])


DEAD_LETTER_QUEUES: Final = Resource[QueueRow](
    key=lambda row: row.queue.queue,
    columns=DEAD_LETTER_QUEUE_COLUMNS,
    text=_queue_words,
    fault=lambda row: row.queue.length > 0,
)


def _dead_letter_words(row: DeadLetterRow) -> str:
    letter = row.letter
    parts = (letter.reason, letter.group, letter.origin, letter.consumer, letter.error, letter.problem)
    return " ".join([str(letter.id), *filter(None, parts), DEAD_LETTER_DETAIL_COLUMNS[-1].cell(row).text])


DEAD_LETTERS: Final = Resource[DeadLetterRow](
    key=lambda row: row.letter.id,
    columns=DEAD_LETTER_COLUMNS,
    more=DEAD_LETTER_DETAIL_COLUMNS,
    text=_dead_letter_words,
    fault=lambda row: row.letter.replays > 0 or bool(row.letter.problem),
)
