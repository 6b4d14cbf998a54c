"""Topics: what ``webhooks ls`` and ``webhooks show`` tell."""

from typing import Final

from streamops.model.topics import Topic
from streamops.resources.cells import NAME_WIDTH, NOT_THERE
from streamops.resources.columns.kinds import Columns, of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.resources.topics import TopicRow

URL_WIDTH: Final = 40
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
    ).means("Whether its messages are posted; while it is off, they wait. An invalid one is left out."),
    ROW.column(
        "url",
        "URL",
        URL_WIDTH,
        lambda row: row.topic.shown_url if row.topic else None,
        _url,
        flexible=True,
        priority=0,
    ).means("The URL that its messages are posted to, without the query."),
    ROW.count("waiting", "WAITING", 9, lambda row: row.waiting, absent=True, priority=0).means(
        "Messages not posted yet: delayed, to be tried again, unread or pending; a dash where that is not known.",
        "ZCARD of its stream's delayed queue, and the lag and pending entries of its group",
    ),
    ROW.age(
        "next_due_in_seconds",
        "NEXT IN",
        8,
        lambda row: row.next_due_in,
        absent=True,
        descending=False,
        priority=2,
    ).means("Time until the first is due; negative where it is overdue.", "ZRANGE 0 0 WITHSCORES, less TIME"),
    TOPIC.text("priority", "PRIORITY", 8, lambda topic: topic.priority, priority=2).means(
        "high, normal and low are called 5:3:2; or its weight."
    ),
    TOPIC.age(
        "delay_seconds", "DELAY", 8, lambda topic: topic.delay, absent=True, descending=False, priority=3
    ).means("How long a message waits unless it says something else."),
    TOPIC.text("retry", "RETRY", TEXT_WIDTH, lambda topic: topic.retry.text, priority=3).means(
        "How long to wait after each failed call."
    ),
    TOPIC.count(
        "max_attempts", "CALLS", 5, lambda topic: topic.max_attempts, descending=False, priority=3
    ).means("Calls of one message at most; then the dead letters."),
    ROW.column(
        "origin",
        "FROM",
        13,
        lambda row: "configuration" if row.file else "redis",
        lambda row: Cell("configuration" if row.file else "redis", Tone.DIM),
        priority=1,
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
    ).means("The longest that one call may take."),
    TOPIC.text(
        "retry_when", "RETRY WHEN", TEXT_WIDTH, lambda topic: topic.retry_when or None, flexible=True
    ).means("JMESPath over {status, headers, body}: where it holds, the call is repeated."),
    TOPIC.flag("retry_empty", "RETRY EMPTY", 11, lambda topic: topic.retry_empty).means(
        "Whether an answer without a body counts as failed."
    ),
    TOPIC.text("content_type", "CONTENT TYPE", 16, lambda topic: topic.content_type).means(
        "The content type of a message that does not name its own."
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
    TOPIC.count("concurrency", "AT ONCE", 7, lambda topic: topic.concurrency, descending=False).means(
        "Calls at once in one worker."
    ),
    TOPIC.text("stream", "STREAM", NAME_WIDTH, lambda topic: topic.key).means("The stream of its messages."),
    TOPIC.text("group", "GROUP", NAME_WIDTH, lambda topic: topic.group).means(
        "The consumer group that calls them."
    ),
    ROW.text("file", "FILE", NAME_WIDTH, lambda row: row.file or None, flexible=True).means(
        "The configuration file that names it."
    ),
)
