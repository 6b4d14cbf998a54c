"""Topics of HTTP callbacks: all of them, and one with its counters and what failed last."""

import asyncio
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, TypeAlias

from streamops.errors import NotFound
from streamops.model.observation import GroupView, StreamView
from streamops.monitor.topics import TopicFailures
from streamops.resources.groups import GROUP_COLUMNS, GroupRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.topics import TOPIC_COLUMNS, TOPIC_DETAIL_COLUMNS, TOPICS, TopicRow, read_topic_rows
from streamops.resources.units import count, timestamp
from streamops.settings.topics import list_topics
from streamops.tui import routes
from streamops.tui.lines.details import column_facts, finding_lines, paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.rows.selection import Selection, SelectionKind
from streamops.tui.screens.read_listing import Page, ReadingFrame, ReadList, ReadListing
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line


def in_use(app_state: AppState) -> str | None:
    """The name of the context in use; None if it is no configured one."""
    return None if app_state.context.url else app_state.context.name


def selection_of_topic(row: TopicRow) -> Selection | None:
    """A topic as what is acted on; None if it stands in a file."""
    if row.file:
        return None
    on = row.topic is not None and row.topic.enabled
    return Selection(sort=SelectionKind.TOPIC if on else SelectionKind.TOPIC_OFF, topic=row.name)


async def read_topics(source: Source, in_use: str | None) -> list[TopicRow]:
    """Every topic, of the configuration and of Redis.

    Args:
        source: Where to read.
        in_use: The context that the console is in; none if it is no configured one.
    """
    configured = await asyncio.to_thread(list_topics, os.environ, Path.cwd())
    return await read_topic_rows(source.topics, configured, in_use)


TopicInFull: TypeAlias = tuple[TopicRow, TopicFailures | None]


class TopicScreen(ReadingFrame[TopicInFull]):
    """A topic in full; its counters move with every observation, what failed is read on demand."""

    HINTS = (
        ("waiting", "waiting"),
        ("letters_of", "dead letters"),
        "tail",
        ("read_now", "reload"),
        ("copy_id", "copy name"),
        "back",
    )

    async def read(self, source: Source) -> TopicInFull:
        """The topic, and what failed last of its calls, unless they are another context's."""
        name = self.copyable()
        rows = await read_topics(source, in_use(self.app_state))
        row = next((row for row in rows if row.name == name), None)
        if row is None:
            raise NotFound(f"there is no topic {name}", "It may have been removed.")
        here = row.topic is not None and not row.context
        return row, await source.topics.failures(row.topic) if row.topic and here else None

    def show_body(self, app_state: AppState) -> None:
        """Tell the counters as they are now."""
        super().show_body(app_state)
        self.refresh_detail()

    def lines(self, thing: TopicInFull, width: int) -> Sequence[Line]:
        """Whether and how it is called, what failed, what it says."""
        row, failures = thing
        stream, group = self._observed(row)
        return [
            *state_lines(row, width),
            BLANK_LINE,
            *counter_lines(stream, group, width),
            BLANK_LINE,
            *failure_lines(failures, width),
            BLANK_LINE,
            *settings_lines(row, width),
        ]

    def selection(self) -> Selection | None:
        """The topic, if it is kept in Redis."""
        return None if self.thing is None else selection_of_topic(self.thing[0])

    def stream_name(self) -> str | None:
        """The stream of its messages."""
        topic = None if self.thing is None else self.thing[0].topic
        return None if topic is None else topic.key

    def action_waiting(self) -> None:
        """Show what waits for it."""
        if (stream := self.stream_name()) is not None:
            self.console.go(routes.DelayedRoute(stream))

    def _observed(self, row: TopicRow) -> tuple[StreamView | None, GroupView | None]:
        topic = row.topic
        stream = None if topic is None else self.app_state.find_stream(topic.key)
        if stream is None or topic is None:
            return None, None
        return stream, next((one for one in stream.groups if one.group.name == topic.group), None)


FIRST: Final = ("state", "url", "waiting", "next_due_in_seconds")
STATE: Final = tuple(column for column in TOPIC_COLUMNS if column.key in FIRST)
SAYS: Final = tuple(
    column for column in (*TOPIC_COLUMNS[1:], *TOPIC_DETAIL_COLUMNS) if column.key not in FIRST
)
OF_GROUP: Final = (
    "lag",
    "time_lag_seconds",
    "pending",
    "oldest_pending_age_seconds",
    "added_per_second",
    "acked_per_second",
    "consumers",
)
IN_PROCESSES: Final = "Open circuit breakers and recent calls are in the log and the metrics of each `streamops webhooks serve`."
IN_A_FILE: Final = (
    "It is defined in a configuration file: change it there. Topics in Redis can be paused and resumed here."
)


def topic_lines(row: TopicRow, width: int) -> list[Line]:
    """What a topic says, and how much waits for it."""
    return [*state_lines(row, width), *settings_lines(row, width)]


def state_lines(row: TopicRow, width: int) -> list[Line]:
    """Whether it is called, where, and how much waits for it."""
    lines = paragraph(safe(row.name), width, Tone.STRONG)
    if row.problem:
        lines += paragraph(f"▲ {safe(row.problem)}", width, Tone.WARN, hang=2)
    return [*lines, *column_facts(STATE, row, width)]


def settings_lines(row: TopicRow, width: int) -> list[Line]:
    """How it is called, and where that is said."""
    lines = column_facts(SAYS, row, width)
    return [*lines, BLANK_LINE, *paragraph(IN_A_FILE, width, Tone.DIM)] if row.file else lines


def counter_lines(stream: StreamView | None, group: GroupView | None, width: int) -> list[Line]:
    """How its messages are called, as the observation has it."""
    heading: Line = (Cell(" Calls", Tone.STRONG),)
    if stream is None:
        return [
            heading,
            *paragraph("no message was posted yet: its stream does not exist", width, Tone.DIM),
        ]
    if group is None:
        return [heading, *paragraph("not served yet: its group does not exist", width, Tone.WARN)]
    shown = [column for column in GROUP_COLUMNS if column.key in OF_GROUP]
    row = GroupRow(stream, group)
    lines = column_facts(shown, row, width)
    return [heading, *lines, *finding_lines(group.findings, width)]


def failure_lines(failures: TopicFailures | None, width: int) -> list[Line]:
    """What failed last, as far as Redis holds it, and what it does not hold."""
    lines: list[Line] = []
    if failures is not None:
        more = " or more" if failures.more_waiting else ""
        lines.append(_heading("Waiting for retry", f"{count(len(failures.retries))}{more}"))
        for message in failures.retries:
            body = message.body
            attempt = "" if body is None else f"call {count(body.attempt)} of "
            lines += _at(message.due_at, f"{attempt}{safe(message.id)}", width, Tone.WARN)
        lines += [BLANK_LINE, _heading("Last dead letters", count(len(failures.letters)))]
        for letter in failures.letters:
            said = ": ".join(filter(None, (letter.reason, letter.error)))
            lines += _at(letter.failed_at, safe(said), width, Tone.CRITICAL)
        lines.append(BLANK_LINE)
    return [*lines, *paragraph(f"? {IN_PROCESSES}", width, Tone.UNKNOWN, hang=2)]


def _heading(title: str, number: str) -> Line:
    return (Cell(f" {title}", Tone.STRONG), Cell(f"  {number}", Tone.DIM))


def _at(when: datetime | None, text: str, width: int, tone: Tone) -> list[Line]:
    return paragraph(f"{'' if when is None else timestamp(when)}  {text}", width, tone, hang=2)


async def _read(screen: ReadListing[TopicRow], source: Source) -> Page[TopicRow]:
    rows = await read_topics(source, in_use(screen.app_state))
    return Page(rows=tuple(rows), nothing="there are no topics; ^p and `webhooks create` keep one in Redis")


TOPIC_LIST: Final = ReadList(
    resource=TOPICS,
    hints=(("open", "topic"), "tail", "filter", "sort", "back"),
    read=_read,
    leads=lambda row: routes.TopicRoute(row.name),
    selects=selection_of_topic,
    stream=lambda row: None if row.topic is None else row.topic.key,
    detail=topic_lines,
)
