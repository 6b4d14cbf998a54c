"""One topic: what it says, its counters, and what failed last."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.errors import NotFound
from streamops.model.observation import GroupView, StreamView
from streamops.monitor.topics import TopicFailures
from streamops.present.table import Cell, Tone
from streamops.present.topics import TopicRow
from streamops.tui import places
from streamops.tui.asking import Go
from streamops.tui.beside.reads import read_topics
from streamops.tui.beside.topic_lines import counter_lines, failure_lines, settings_lines, state_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.screens.stream import find_stream
from streamops.tui.screens.topics import in_use, subject_of_topic
from streamops.tui.source import Source
from streamops.tui.subjects import Subject


class TopicScreen(ReadingFrame):
    """A topic in full; its counters move with every observation, what failed is read on demand."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "waiting", "what waits for it", show=False, id="waiting")
    ]
    HINTS = (
        ("l", "waiting"),
        ("d", "dead letters"),
        ("t", "tail"),
        ("r", "read again"),
        ("y", "copy name"),
        ("esc", "back"),
    )

    def __init__(self, place: places.OneTopic, moment: Moment) -> None:
        super().__init__(place, moment)
        self._topic_place = place
        self._row: TopicRow | None = None
        self._failures: TopicFailures | None = None

    async def read(self, source: Source) -> tuple[TopicRow, TopicFailures | None]:
        """The topic, and what failed last of its calls, unless they are another context's."""
        name = self._topic_place.topic
        rows = await read_topics(source, in_use(self.moment))
        row = next((row for row in rows if row.name == name), None)
        if row is None:
            raise NotFound(f"there is no topic {name}", "It may have been removed.")
        here = row.topic is not None and not row.context
        return row, await source.topics.failures(row.topic) if row.topic and here else None

    def show_body(self, moment: Moment) -> None:
        """Tell the counters as they are now."""
        super().show_body(moment)
        self.tell()

    def take(self, answer: tuple[TopicRow, TopicFailures | None]) -> None:
        """Take it."""
        self._row, self._failures = answer

    def lines(self, width: int) -> Sequence[Line]:
        """Whether and how it is called, what failed, what it says."""
        row = self._row
        if row is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        stream, group = self._observed(row)
        return [
            *state_lines(row, width),
            BLANK_LINE,
            *counter_lines(stream, group, width),
            BLANK_LINE,
            *failure_lines(self._failures, width),
            BLANK_LINE,
            *settings_lines(row, width),
        ]

    def subject(self) -> Subject | None:
        """The topic, where it is kept in Redis."""
        return None if self._row is None else subject_of_topic(self._row)

    def stream_name(self) -> str | None:
        """The stream of its messages."""
        topic = None if self._row is None else self._row.topic
        return None if topic is None else topic.key

    def copyable(self) -> str:
        """Its name."""
        return self._topic_place.topic

    def action_waiting(self) -> None:
        """Show what waits for it."""
        if (stream := self.stream_name()) is not None:
            self.post_message(Go(places.Delayed(stream)))

    def _observed(self, row: TopicRow) -> tuple[StreamView | None, GroupView | None]:
        topic = row.topic
        stream = None if topic is None else find_stream(self.moment, topic.key)
        if stream is None or topic is None:
            return None, None
        return stream, next((one for one in stream.groups if one.group.name == topic.group), None)
