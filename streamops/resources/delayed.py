"""Delayed messages as rows and as documents."""

from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.delayed import DelayedMessage, DelayedQueue
from streamops.model.entries import ZERO_ID, StreamEntry
from streamops.model.json_text import Json, text_json
from streamops.resources.cells import seconds
from streamops.resources.documents import fields_json
from streamops.resources.text import safe
from streamops.resources.units import rfc3339


class DelayedQueueRow(Struct, frozen=True):
    """A queue and the server's clock when it was read; none where that may not be asked."""

    queue: DelayedQueue
    now: datetime | None

    @property
    def next_due_in(self) -> timedelta | None:
        """Time until its first message is due, negative where it is overdue; none where that cannot be told."""
        return _until(self.queue.next_due_at, self.now)


class DelayedRow(Struct, frozen=True):
    """A delayed message with the name of its stream and the server's clock when it was read."""

    stream: str
    message: DelayedMessage
    now: datetime | None

    @property
    def due_in(self) -> timedelta | None:
        """Time until it is due, negative where it is overdue; none where that cannot be told."""
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
