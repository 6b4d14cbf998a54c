"""Topics as rows and as documents; neither ever holds a secret or a header's value."""

from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.delayed import DelayedQueue
from streamops.model.json_text import Json, text_json
from streamops.model.topics import Topic
from streamops.resources.cells import seconds
from streamops.resources.text import safe
from streamops.resources.units import rfc3339


class TopicRow(Struct, frozen=True, kw_only=True):
    """One topic.

    Attributes:
        name: Its name.
        topic: What it says; none where that cannot be read.
        file: The configuration file that it stands in; empty for one kept in Redis.
        context: The context that it names; empty for the one in use.
        signed: Whether its calls are signed.
        problem: What is wrong with it; empty for nothing.
        queue: Its delayed messages; none where they were not read.
        undone: Entries of its stream that are not called back yet; none where that is not known.
        now: The server's clock; none where it was not read.
    """

    name: str
    topic: Topic | None
    file: str = ""
    context: str = ""
    signed: bool = False
    problem: str = ""
    queue: DelayedQueue | None = None
    undone: int | None = None
    now: datetime | None = None

    @property
    def waiting(self) -> int | None:
        """Messages that are not called back yet, delayed ones and entries; none where that is not known."""
        return None if self.queue is None or self.undone is None else self.queue.messages + self.undone

    @property
    def next_due_in(self) -> timedelta | None:
        """Time until the first waiting message is due; none where none waits, or that cannot be told."""
        due = self.queue.next_due_at if self.queue else None
        return None if due is None or self.now is None else due - self.now


def topic_json(row: TopicRow) -> Json:
    """One topic."""
    queue = row.queue
    head: Json = {
        "topic": text_json(row.name),
        "enabled": row.topic.enabled if row.topic else None,
        "origin": "configuration" if row.file else "redis",
        "file": safe(row.file) or None,
        "context": row.context or None,
        "problem": safe(row.problem) or None,
    }
    if row.topic is not None:
        head |= _said(row.topic, signed=row.signed)
    return {
        **head,
        "waiting": row.waiting,
        "delayed": queue.messages if queue else None,
        "due": queue.due if queue else None,
        "next_due_at": rfc3339(queue.next_due_at) if queue and queue.next_due_at else None,
    }


def _said(topic: Topic, *, signed: bool) -> Json:
    return {
        "url": topic.shown_url,
        "method": topic.method,
        "delay_seconds": seconds(topic.delay),
        "time_to_run_seconds": seconds(topic.time_to_run),
        "content_type": topic.content_type,
        "headers": [name for name, _ in topic.headers],
        "priority": topic.priority,
        "weight": topic.weight,
        "retry": topic.retry.text,
        "max_attempts": topic.max_attempts,
        "retry_when": topic.retry_when or None,
        "retry_empty": topic.retry_empty,
        "concurrency": topic.concurrency,
        "stream": text_json(topic.key),
        "group": text_json(topic.group),
        "secret": "set" if signed else None,
    }
