"""Topics: what ``webhooks ls`` and ``webhooks show`` tell."""

from collections.abc import Callable
from typing import Final

from streamops.model.topics import Topic
from streamops.present.cells import NAME_WIDTH, NOT_THERE, count_cell, name_cell, seconds
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.text import safe
from streamops.present.topics import TopicRow
from streamops.present.units import duration

URL_WIDTH: Final = 40
TEXT_WIDTH: Final = 24


def _state(row: TopicRow) -> Cell:
    if row.topic is None or row.problem:
        return Cell("✗ wrong", Tone.CRITICAL)
    return Cell("✓ on", Tone.OK) if row.topic.enabled else Cell("▲ off", Tone.WARN)


def _said(tell: Callable[[Topic], str]) -> Callable[[TopicRow], Cell]:
    def cell(row: TopicRow) -> Cell:
        text = tell(row.topic) if row.topic is not None else ""
        return Cell(safe(text)) if text else NOT_THERE

    return cell


def _value(tell: Callable[[Topic], str | int | float | bool | None]) -> Callable[[TopicRow], object]:
    return lambda row: None if row.topic is None else tell(row.topic)


TOPIC_COLUMNS: Final[tuple[Column[TopicRow], ...]] = (
    Column(
        key="topic",
        title="TOPIC",
        help="Its name.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=lambda row: name_cell(row.name),
        value=lambda row: row.name,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="state",
        title="STATE",
        help="Whether its messages are posted; while it is off, they wait. An invalid one is left out.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_state,
        value=lambda row: (
            "wrong" if row.topic is None or row.problem else "on" if row.topic.enabled else "off"
        ),
        width=8,
        priority=0,
    ),
    Column(
        key="url",
        title="URL",
        help="The URL that its messages are posted to, without the query.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=lambda row: (
            Cell(safe(row.problem), Tone.WARN) if row.problem else _said(lambda topic: topic.shown_url)(row)
        ),
        value=_value(lambda topic: topic.shown_url),
        width=URL_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="waiting",
        title="WAITING",
        help="Messages not posted yet: delayed, to be tried again, unread or pending; a dash where that is not known.",
        source="ZCARD of its stream's delayed queue, and the lag and pending entries of its group",
        cell=lambda row: NOT_THERE if row.waiting is None else count_cell(row.waiting),
        value=lambda row: row.waiting,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="next_due_in_seconds",
        title="NEXT IN",
        help="Time until the first is due; negative where it is overdue.",
        source="ZRANGE 0 0 WITHSCORES, less TIME",
        cell=lambda row: NOT_THERE if row.next_due_in is None else Cell(duration(row.next_due_in)),
        value=lambda row: seconds(row.next_due_in),
        width=8,
        align=Align.RIGHT,
        priority=2,
    ),
    Column(
        key="priority",
        title="PRIORITY",
        help="high, normal and low are called 5:3:2; or its weight.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: topic.priority),
        value=_value(lambda topic: topic.priority),
        width=8,
        priority=2,
    ),
    Column(
        key="delay_seconds",
        title="DELAY",
        help="How long a message waits unless it says something else.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: duration(topic.delay)),
        value=_value(lambda topic: seconds(topic.delay)),
        width=8,
        align=Align.RIGHT,
        priority=3,
    ),
    Column(
        key="retry",
        title="RETRY",
        help="How long to wait after each failed call.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: topic.retry.text),
        value=_value(lambda topic: topic.retry.text),
        width=TEXT_WIDTH,
        priority=3,
    ),
    Column(
        key="max_attempts",
        title="CALLS",
        help="Calls of one message at most; then the dead letters.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: str(topic.max_attempts)),
        value=_value(lambda topic: topic.max_attempts),
        width=5,
        align=Align.RIGHT,
        priority=3,
    ),
    Column(
        key="origin",
        title="FROM",
        help="Where it is kept: in the configuration, or in Redis.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=lambda row: Cell("configuration" if row.file else "redis", Tone.DIM),
        value=lambda row: "configuration" if row.file else "redis",
        width=13,
        priority=1,
    ),
    Column(
        key="context",
        title="CONTEXT",
        help="The context that it names; a dash for the one in use.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=lambda row: name_cell(row.context) if row.context else NOT_THERE,
        value=lambda row: row.context or None,
        width=10,
        priority=4,
    ),
)

TOPIC_DETAIL_COLUMNS: Final[tuple[Column[TopicRow], ...]] = (
    Column(
        key="method",
        title="METHOD",
        help="The method of the call.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: topic.method),
        value=_value(lambda topic: topic.method),
        width=6,
    ),
    Column(
        key="time_to_run_seconds",
        title="TIME TO RUN",
        help="The longest that one call may take.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: duration(topic.time_to_run)),
        value=_value(lambda topic: seconds(topic.time_to_run)),
        width=11,
        align=Align.RIGHT,
    ),
    Column(
        key="retry_when",
        title="RETRY WHEN",
        help="JMESPath over {status, headers, body}: where it holds, the call is repeated.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: topic.retry_when),
        value=_value(lambda topic: topic.retry_when or None),
        width=TEXT_WIDTH,
        flexible=True,
    ),
    Column(
        key="retry_empty",
        title="RETRY EMPTY",
        help="Whether an answer without a body counts as failed.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: "yes" if topic.retry_empty else "no"),
        value=_value(lambda topic: topic.retry_empty),
        width=11,
    ),
    Column(
        key="content_type",
        title="CONTENT TYPE",
        help="The content type of a message that does not name its own.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: topic.content_type),
        value=_value(lambda topic: topic.content_type),
        width=16,
    ),
    Column(
        key="headers",
        title="HEADERS",
        help="Names of the headers that are sent too; their values are never shown.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: ", ".join(name for name, _ in topic.headers)),
        value=_value(lambda topic: ", ".join(name for name, _ in topic.headers) or None),
        width=TEXT_WIDTH,
    ),
    Column(
        key="secret",
        title="SECRET",
        help="Whether calls are signed; the secret is never shown.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=lambda row: Cell("set" if row.signed else "not set", Tone.PLAIN if row.signed else Tone.DIM),
        value=lambda row: "set" if row.signed else None,
        width=7,
    ),
    Column(
        key="concurrency",
        title="AT ONCE",
        help="Calls at once in one worker.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: str(topic.concurrency)),
        value=_value(lambda topic: topic.concurrency),
        width=7,
        align=Align.RIGHT,
    ),
    Column(
        key="stream",
        title="STREAM",
        help="The stream of its messages.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: topic.key),
        value=_value(lambda topic: topic.key),
        width=NAME_WIDTH,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The consumer group that calls them.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=_said(lambda topic: topic.group),
        value=_value(lambda topic: topic.group),
        width=NAME_WIDTH,
    ),
    Column(
        key="file",
        title="FILE",
        help="The configuration file that names it.",
        source="the topic's table: [[topics]] of the configuration, or streamops:topics in Redis",
        cell=lambda row: Cell(safe(row.file)) if row.file else NOT_THERE,
        value=lambda row: row.file or None,
        width=NAME_WIDTH,
        flexible=True,
    ),
)
