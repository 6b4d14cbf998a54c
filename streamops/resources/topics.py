"""Topics of the configuration and those kept in Redis: rows, columns and JSON, without secrets and values of headers."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.delayed import DelayedQueue
from streamops.model.json_text import Json, text_json
from streamops.model.topics import HERE, ConfiguredTopic, Topic
from streamops.monitor.topics import TopicFailures, TopicView
from streamops.resources.kinds import NAME_WIDTH, NOT_THERE, Columns, due_cell, of_rows, seconds
from streamops.resources.table import Align, Cell, Column, Resource, Tone
from streamops.resources.text import safe
from streamops.resources.units import rfc3339


class TopicRow(Struct, frozen=True, kw_only=True):
    """One topic.

    Attributes:
        name: Its name.
        topic: What it says; None if that cannot be read.
        file: The configuration file that it stands in; empty for one kept in Redis.
        context: The contexts that it names; empty for the one in use alone.
        signed: Whether its calls are signed.
        problem: What is wrong with it; empty for nothing.
        queue: Its delayed messages; None if they were not read.
        undone: Entries of its stream that are not called back yet; None if that is not known.
        now: The server's clock; None if it was not read.
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
        """Messages that are not called back yet, delayed ones and entries; None if that is not known."""
        return None if self.queue is None or self.undone is None else self.queue.messages + self.undone

    @property
    def next_due_in(self) -> timedelta | None:
        """Time until the first waiting message is due; None if none waits, or that is not known."""
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


class TopicSource(Protocol):
    """Reads topics; every method raises ``StreamopsError`` if that cannot be."""

    async def kept(self) -> list[TopicView]:
        """The topics kept in Redis."""

    async def queues(self, topics: Sequence[Topic]) -> list[DelayedQueue | None]:
        """The delayed messages of each topic."""

    async def undone(self, topics: Sequence[Topic]) -> list[int | None]:
        """Entries of each topic's stream that are not called back yet."""

    async def failures(self, topic: Topic, limit: int = 20) -> TopicFailures:
        """What failed last of its calls."""

    async def clock(self) -> datetime | None:
        """The server's clock."""


async def read_topic_rows(
    source: TopicSource, configured: Sequence[ConfiguredTopic], in_use: str | None
) -> list[TopicRow]:
    """Every topic by name, with how much waits for those of the context in use.

    Args:
        source: Reads what is kept in Redis.
        configured: The topics of the configuration.
        in_use: The context in use; None if it has no name.

    Raises:
        StreamopsError: They could not be read.
    """
    rows = sorted(_rows(configured, await source.kept(), in_use), key=lambda row: row.name)
    here = [row.topic for row in rows if row.topic is not None and not row.context]
    queues, undone = iter(await source.queues(here)), iter(await source.undone(here))
    now = await source.clock()
    return [
        replace(row, queue=next(queues), undone=next(undone), now=now)
        if row.topic is not None and not row.context
        else row
        for row in rows
    ]


def _rows(
    configured: Sequence[ConfiguredTopic], kept: Sequence[TopicView], in_use: str | None
) -> Iterator[TopicRow]:
    """One row a topic; of one that is in both the configuration's."""
    taken = set()
    for one in configured:
        context = "" if one.contexts in ((HERE,), (in_use,)) else ", ".join(one.contexts)
        taken |= {one.topic.name} if {HERE, in_use} & {*one.contexts} else set()
        yield TopicRow(
            name=one.topic.name, topic=one.topic, file=one.file, context=context, signed=one.signed
        )
    for view in kept:
        if view.name not in taken:
            signed = view.topic is not None and view.topic.secret is not None
            yield TopicRow(name=view.name, topic=view.topic, signed=signed, problem=view.problem)


URL_WIDTH: Final = 34


TEXT_WIDTH: Final = 24


def _state(row: TopicRow) -> Cell:
    if row.topic is None or row.problem:
        return Cell("✗ wrong", Tone.CRITICAL)
    return Cell("✓ on", Tone.OK) if row.topic.enabled else Cell("▲ off", Tone.WARN)


def _url(row: TopicRow) -> Cell:
    if row.problem:
        return Cell(safe(row.problem), Tone.WARN)
    return Cell(safe(row.topic.shown_url)) if row.topic and row.topic.shown_url else NOT_THERE


TABLE: Final = "the topic's table: [[topics]] of the configuration, or streamops:topics in Redis"


ROW = of_rows(TopicRow, TABLE)


TOPIC = Columns[TopicRow, Topic](lambda row: row.topic, TABLE)


TOPIC_COLUMNS: Final[tuple[Column[TopicRow], ...]] = (
    ROW.text("topic", "TOPIC", NAME_WIDTH, lambda row: row.name, flexible=True, priority=0).means(
        "Its name."
    ),
    ROW.column(
        "state",
        "STATE",
        8,
        lambda row: "wrong" if row.topic is None or row.problem else "on" if row.topic.enabled else "off",
        _state,
        priority=0,
    ).means("Whether its messages are sent; while it is paused, they wait. An invalid topic is left out."),
    ROW.column(
        "url",
        "URL",
        URL_WIDTH,
        lambda row: row.topic.shown_url if row.topic else None,
        _url,
        flexible=True,
        priority=0,
    ).means("The URL that is called, without the query."),
    ROW.count("waiting", "WAITING", 9, lambda row: row.waiting, absent=True, priority=0).means(
        "Messages not delivered yet: delayed, retrying, unread or pending; a dash if unknown.",
        "ZCARD of its stream's delayed queue, and the lag and pending entries of its group",
    ),
    ROW.column(
        "next_due_in_seconds",
        "NEXT IN",
        13,
        lambda row: seconds(row.next_due_in),
        lambda row: due_cell(row.next_due_in),
        align=Align.RIGHT,
        priority=1,
    ).means("Time until the first is due; overdue if that has passed.", "ZRANGE 0 0 WITHSCORES, less TIME"),
    TOPIC.text("priority", "PRIORITY", 8, lambda topic: topic.priority, priority=5).means(
        "Its share of the calls: high, normal and low are 5:3:2; or its weight."
    ),
    TOPIC.age(
        "delay_seconds", "DELAY", 8, lambda topic: topic.delay, absent=True, descending=False, priority=3
    ).means("Default delay of a message."),
    TOPIC.text("retry", "RETRY", TEXT_WIDTH, lambda topic: topic.retry.text, priority=3).means(
        "Delay after each failed call."
    ),
    TOPIC.count(
        "max_attempts", "ATTEMPTS", 8, lambda topic: topic.max_attempts, descending=False, priority=3
    ).means("Attempts per message before it is dead-lettered."),
    ROW.column(
        "origin",
        "FROM",
        13,
        lambda row: "configuration" if row.file else "redis",
        lambda row: Cell("configuration" if row.file else "redis", Tone.DIM),
        priority=4,
    ).means("Where it is kept: in the configuration, or in Redis."),
    ROW.text("context", "CONTEXT", 10, lambda row: row.context or None, priority=4).means(
        "The context that it names; a dash for the one in use."
    ),
)


TOPIC_DETAIL_COLUMNS: Final[tuple[Column[TopicRow], ...]] = (
    TOPIC.text("method", "METHOD", 6, lambda topic: topic.method).means("The method of the call."),
    TOPIC.age(
        "time_to_run_seconds",
        "TIME TO RUN",
        11,
        lambda topic: topic.time_to_run,
        absent=True,
        descending=False,
    ).means("Timeout of one call."),
    TOPIC.text(
        "retry_when", "RETRY WHEN", TEXT_WIDTH, lambda topic: topic.retry_when or None, flexible=True
    ).means("JMESPath over {status, headers, body}: if it is true, the call is repeated."),
    TOPIC.flag("retry_empty", "RETRY EMPTY", 11, lambda topic: topic.retry_empty).means(
        "Treat an answer without a body as failed."
    ),
    TOPIC.text("content_type", "CONTENT TYPE", 16, lambda topic: topic.content_type).means(
        "Default content type of a message."
    ),
    TOPIC.text(
        "headers", "HEADERS", TEXT_WIDTH, lambda topic: ", ".join((name for name, _ in topic.headers)) or None
    ).means("Names of the headers that are sent too; their values are never shown."),
    ROW.column(
        "secret",
        "SECRET",
        7,
        lambda row: "set" if row.signed else None,
        lambda row: Cell("set" if row.signed else "not set", Tone.PLAIN if row.signed else Tone.DIM),
    ).means("Whether calls are signed; the secret is never shown."),
    TOPIC.count("concurrency", "CONCURRENCY", 11, lambda topic: topic.concurrency, descending=False).means(
        "Concurrent calls in one worker."
    ),
    TOPIC.text("stream", "STREAM", NAME_WIDTH, lambda topic: topic.key).means("The stream of its messages."),
    TOPIC.text("group", "GROUP", NAME_WIDTH, lambda topic: topic.group).means(
        "The consumer group that calls them."
    ),
    ROW.text("file", "FILE", NAME_WIDTH, lambda row: row.file or None, flexible=True).means(
        "The configuration file that names it."
    ),
)


def _words(row: TopicRow) -> str:
    return f"{row.name} {'' if row.topic is None else row.topic.shown_url} {row.problem} {row.context}"


TOPICS: Final = Resource[TopicRow](
    key=lambda row: (row.name, row.context),
    columns=TOPIC_COLUMNS,
    more=TOPIC_DETAIL_COLUMNS,
    text=_words,
    fault=lambda row: bool(row.problem) or row.topic is None or not row.topic.enabled,
    name=lambda row: row.name,
)
