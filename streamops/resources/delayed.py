"""Delayed messages and their queues: rows, columns and JSON."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.model.delayed import DelayedBody, DelayedMessage, DelayedQueue
from streamops.model.entries import ZERO_ID, StreamEntry
from streamops.model.json_text import Json, text_json
from streamops.resources.entries import fields_json
from streamops.resources.kinds import NAME_WIDTH, Columns, due_cell, of_rows, seconds
from streamops.resources.payloads import NAME_BYTES, preview
from streamops.resources.table import Align, Cell, Column, Resource, Tone
from streamops.resources.text import safe, safe_bytes
from streamops.resources.units import rfc3339


class DelayedQueueRow(Struct, frozen=True):
    """A queue and the server's clock when it was read; None if that may not be asked."""

    queue: DelayedQueue
    now: datetime | None

    @property
    def next_due_in(self) -> timedelta | None:
        """Time until its first message is due, negative if it is overdue; none if that is not known."""
        until = _until(self.queue.next_due_at, self.now)
        # The clock was read after the queue: one that fell due in between counts as due now.
        return until if until is None or self.queue.due else max(timedelta(), until)


class DelayedRow(Struct, frozen=True):
    """A delayed message with the name of its stream and the server's clock when it was read."""

    stream: str
    message: DelayedMessage
    now: datetime | None

    @property
    def due_in(self) -> timedelta | None:
        """Time until it is due, negative if it is overdue; None if that is not known."""
        return _until(self.message.due_at, self.now)

    @property
    def entry(self) -> StreamEntry:
        """Its fields as an entry that has no ID yet; none of a body that cannot be read."""
        return StreamEntry(ZERO_ID, self.message.body.fields if self.message.body else ())


def queue_json(row: DelayedQueueRow) -> Json:
    """One queue."""
    queue = row.queue
    return {
        "stream": text_json(queue.stream),
        "messages": queue.messages,
        "due": queue.due,
        "next_due_at": None if queue.next_due_at is None else rfc3339(queue.next_due_at),
        "next_due_in_seconds": seconds(row.next_due_in),
        "bodies": queue.bodies,
        "foreign": queue.foreign,
    }


def delayed_json(row: DelayedRow) -> Json:
    """One message; ``problem`` says why it cannot become an entry."""
    message = row.message
    body = message.body
    head: Json = {
        "id": text_json(message.id),
        "due_at": None if message.due_at is None else rfc3339(message.due_at),
        "due_in_seconds": seconds(row.due_in),
    }
    if body is not None:
        head |= {
            "destination": text_json(body.destination),
            "group": text_json(body.group) if body.group else None,
            "attempt": body.attempt if body.group else None,
            "origin_id": text_json(body.origin_id) if body.origin_id else None,
            **fields_json(body.fields),
        }
    return {**head, "problem": safe(message.problem) or None}


def _until(due: datetime | None, now: datetime | None) -> timedelta | None:
    return None if due is None or now is None else due - now


PREVIEW_WIDTH: Final = 24


VALUE_BYTES: Final = 4096


def _halves(row: DelayedQueueRow) -> Cell:
    queue = row.queue
    return Cell(f"{queue.bodies:,}", Tone.PLAIN if queue.bodies == queue.messages else Tone.WARN)


DELAYED_QUEUE = of_rows(DelayedQueueRow)


DELAYED = of_rows(DelayedRow, "its body in the hash")


BODY = Columns[DelayedRow, DelayedBody](lambda row: row.message.body, "its body in the hash")


FIELD = of_rows(tuple[bytes, bytes], "its body in the hash")


DELAYED_QUEUE_COLUMNS: Final[tuple[Column[DelayedQueueRow], ...]] = (
    DELAYED_QUEUE.text(
        "stream", "STREAM", NAME_WIDTH, lambda row: row.queue.stream, flexible=True, priority=0
    ).means(
        "The stream that they will be added to.", "sorted sets T:delayed, or the configuration's delayed"
    ),
    DELAYED_QUEUE.count("messages", "MESSAGES", 9, lambda row: row.queue.messages, priority=0).means(
        "How many messages wait.", "ZCARD of the sorted set"
    ),
    DELAYED_QUEUE.count("due", "DUE", 9, lambda row: row.queue.due).means(
        "Messages that are due and wait for a worker to move them.", "ZCOUNT up to now, by TIME"
    ),
    DELAYED_QUEUE.column(
        "next_due_in_seconds",
        "NEXT IN",
        13,
        lambda row: seconds(row.next_due_in),
        lambda row: due_cell(row.next_due_in),
        align=Align.RIGHT,
    ).means(
        "Time until the first message is due; overdue if that has passed.", "ZRANGE 0 0 WITHSCORES, less TIME"
    ),
    DELAYED_QUEUE.column(
        "bodies",
        "BODIES",
        9,
        lambda row: row.queue.bodies,
        _halves,
        align=Align.RIGHT,
        descending=True,
        priority=2,
    ).means(
        "Bodies in the queue's hash; it differs from MESSAGES if a message lacks its body, or a body its message.",
        "HLEN of the hash of bodies",
    ),
)


def _content(row: DelayedRow) -> Cell:
    if row.message.problem:
        return Cell(safe(row.message.problem), Tone.WARN)
    return Cell(preview(row.entry))


DELAYED_COLUMNS: Final[tuple[Column[DelayedRow], ...]] = (
    DELAYED.text("id", "ID", NAME_WIDTH, lambda row: row.message.id, flexible=True, priority=0).means(
        "The message's ID.", "a member of the sorted set"
    ),
    DELAYED.column(
        "due_in_seconds",
        "DUE IN",
        13,
        lambda row: seconds(row.due_in),
        lambda row: due_cell(row.due_in),
        align=Align.RIGHT,
        priority=0,
    ).means(
        "Time until it is due; overdue if that has passed, a dash if it never will be.",
        "its score, less TIME",
    ),
    BODY.text(
        "destination",
        "DESTINATION",
        NAME_WIDTH,
        lambda body: body.destination or None,
        flexible=True,
        priority=2,
    ).means("The stream that it is added to: its queue's own, or the retry stream of one group."),
    BODY.text("group", "GROUP", 12, lambda body: body.group or None, flexible=True).means(
        "The group that it is a retry for; a dash if it is a message for all groups."
    ),
    BODY.count(
        "attempt",
        "ATTEMPT",
        7,
        lambda body: body.attempt if body.group else None,
        absent=True,
        descending=False,
    ).means("The attempt that it will be."),
    DELAYED.column(
        "preview",
        "CONTENT",
        PREVIEW_WIDTH,
        lambda row: _content(row).text,
        _content,
        flexible=True,
        priority=0,
    ).means("The first fields and values, or why it cannot become an entry."),
)


DELAYED_DETAIL_COLUMNS: Final[tuple[Column[DelayedRow], ...]] = (
    DELAYED.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream).means(
        "The stream that it will be added to.", "sorted sets T:delayed, or the configuration's delayed"
    ),
    DELAYED.moment("due_at", "DUE AT", 20, lambda row: row.message.due_at, absent=True).means(
        "When it is due, in UTC.", "its score in the sorted set"
    ),
    BODY.text("origin_id", "ORIGIN ID", 20, lambda body: body.origin_id or None).means(
        "The entry that the group failed to process."
    ),
    DELAYED.size("size", "SIZE", 10, lambda row: row.entry.size).means(
        "Bytes of all field names and values."
    ),
    DELAYED.text("problem", "PROBLEM", 40, lambda row: row.message.problem or None, tone=Tone.WARN).means(
        "Why it cannot become an entry; a dash if it can."
    ),
)


FIELD_COLUMNS: Final[tuple[Column[tuple[bytes, bytes]], ...]] = (
    FIELD.text(
        "field", "FIELD", NAME_WIDTH, lambda pair: safe_bytes(pair[0], NAME_BYTES), flexible=True, priority=0
    ).means("The field's name."),
    FIELD.text(
        "value",
        "VALUE",
        PREVIEW_WIDTH,
        lambda pair: safe_bytes(pair[1], VALUE_BYTES),
        flexible=True,
        priority=0,
    ).means("Its value, the first 4 KiB; control characters and bytes that are not UTF-8 are escaped."),
)


DELAYED_QUEUES: Final = Resource[DelayedQueueRow](
    key=lambda row: row.queue.stream,
    columns=DELAYED_QUEUE_COLUMNS,
    fault=lambda row: row.queue.due > 0 or row.queue.bodies != row.queue.messages,
)


def _words(row: DelayedRow) -> str:
    body = row.message.body
    where = () if body is None else (body.destination, body.group, body.origin_id)
    return " ".join([row.message.id, *where, row.message.problem, DELAYED_COLUMNS[-1].cell(row).text])


DELAYED_MESSAGES: Final = Resource[DelayedRow](
    key=lambda row: row.message.id,
    columns=DELAYED_COLUMNS,
    more=DELAYED_DETAIL_COLUMNS,
    text=_words,
    fault=lambda row: bool(row.message.problem) or (row.due_in is not None and row.due_in < timedelta()),
)
