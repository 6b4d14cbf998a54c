"""Delayed messages: all queues, the messages of one, and one message."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace
from textual.binding import BindingType
from textual.widget import Widget

from streamops.model.wording import counted
from streamops.monitor.delayed import DelayedPage, DelayedQueues
from streamops.resources.delayed import (
    DELAYED_COLUMNS,
    DELAYED_DETAIL_COLUMNS,
    DELAYED_QUEUE_COLUMNS,
    DelayedQueueRow,
    DelayedRow,
)
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, duration, size
from streamops.tui import routes
from streamops.tui.keys import bindings
from streamops.tui.lines.details import paragraph
from streamops.tui.lines.payload import SHOWN_BYTES, field_lines
from streamops.tui.lines.row_facts import column_facts
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, SelectionKind, selection_at
from streamops.tui.screens.marking import WholeMarking
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Builder, Head

PANE_BYTES: Final = 8 * 1024
CONTENT_WIDTH: Final = 24
COLUMNS: Final = tuple(
    replace(column, width=CONTENT_WIDTH) if column.key == "preview" else column for column in DELAYED_COLUMNS
)


MOST_READ: Final = 500


class DelayedScreen(ReadListing[DelayedRow], WholeMarking[DelayedRow]):
    """Messages by when they are due, then bodies that the queue does not name; ``*`` twice takes the whole queue."""

    AGAIN = 5.0
    HINTS = (
        ("open", "message"),
        ("mark_all mark_others", "mark all, others"),
        "filter",
        "sort",
        "back",
    )

    def __init__(self, place: routes.DelayedRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, COLUMNS, DELAYED_DETAIL_COLUMNS)
        self._delayed_place = place
        self._queue: DelayedQueueRow | None = None
        self._head = Head(id="head")

    def compose_body(self) -> Iterable[Widget]:
        """What all of it comes to, the list and the pane."""
        yield self._head
        yield from super().compose_body()

    async def read(self, source: Source) -> DelayedPage:
        """Its first messages."""
        return await source.delayed.page(self._delayed_place.stream, MOST_READ)

    def take(self, page: DelayedPage) -> None:
        """Take them."""
        stream = self._delayed_place.stream
        self.rows = tuple(DelayedRow(stream, one, page.now) for one in (*page.messages, *page.strays))
        queue, shown = DelayedQueueRow(page.queue, page.now), len(page.messages)
        self._queue = queue
        self._head.show(lambda _: delayed_head(queue, shown))

    def nothing(self) -> str:
        """Why there is none."""
        return "no delayed messages for the stream"

    def identify(self, row: DelayedRow) -> str:
        """The message's ID."""
        return row.message.id

    def text_of(self, row: DelayedRow) -> str:
        """The ID, where it goes, and its first fields."""
        body = row.message.body
        where = () if body is None else (body.destination, body.group, body.origin_id)
        return " ".join([row.message.id, *where, row.message.problem, COLUMNS[-1].cell(row).text])

    def is_fault(self, row: DelayedRow) -> bool:
        """Whether it is overdue, or can never become an entry."""
        late = row.due_in is not None and row.due_in.total_seconds() < 0
        return late or bool(row.message.problem)

    def place_of(self, row: DelayedRow) -> Route:
        """The message."""
        return routes.DelayedMessageRoute(self._delayed_place.stream, row.message.id)

    def detail(self, row: DelayedRow) -> Builder:
        """The message in full."""
        return lambda width: message_lines(row, width, limit=PANE_BYTES)

    def name_of(self, row: DelayedRow) -> str:
        """The message's ID."""
        return row.message.id

    def whole_selection(self) -> Selection:
        """The queue."""
        return Selection(sort=SelectionKind.QUEUE, stream=self._delayed_place.stream)


GONE = "it is gone: it became an entry, or was cancelled"


class DelayedMessageScreen(ReadingFrame):
    """A message in full; ``v`` shows its fields as they came."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("raw")
    HINTS = (
        ("raw", "raw"),
        ("read_now", "read again"),
        ("up down", "scroll"),
        ("copy_id", "copy ID"),
        "back",
    )

    def __init__(self, place: routes.DelayedMessageRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._message_place = place
        self._row: DelayedRow | None = None
        self._raw = False

    async def read(self, source: Source) -> DelayedRow:
        """The message."""
        stream = self._message_place.stream
        (message,) = await source.delayed.messages(stream, [self._message_place.id])
        return DelayedRow(stream, message, await source.delayed.clock(stream))

    def take(self, answer: DelayedRow) -> None:
        """Take it."""
        self._row = answer

    def lines(self, width: int) -> Sequence[Line]:
        """All of it."""
        row = self._row
        if row is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        if not row.message.exists:
            return [BLANK_LINE, (Cell(f" {GONE}", Tone.WARN),)]
        return message_lines(row, width, raw=self._raw)

    def selection(self) -> Selection | None:
        """The message."""
        return selection_at(self._message_place, dead_letters=False)

    def copyable(self) -> str:
        """The message's ID."""
        return self._message_place.id

    def action_raw(self) -> None:
        """Show text as it came, or decoded again."""
        self._raw = not self._raw
        self.refresh_detail()


class DelayedQueuesScreen(ReadListing[DelayedQueueRow]):
    """The queues; Enter leads to a queue's messages. Finding them goes through all keys, so it is done at leisure."""

    AGAIN = 15.0
    HINTS = (("open", "messages"), "tail", "filter", "sort", "back")

    def __init__(self, place: routes.DelayedQueuesRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, DELAYED_QUEUE_COLUMNS)
        self._complete = True

    async def read(self, source: Source) -> DelayedQueues:
        """Find all of them."""
        return await source.find_delayed()

    def take(self, found: DelayedQueues) -> None:
        """Take the queues."""
        self.rows = tuple(DelayedQueueRow(queue, found.now) for queue in found.queues)
        self.gaps, self._complete = found.gaps, found.complete

    def nothing(self) -> str:
        """Why there is none."""
        return "no delayed messages for the known streams"

    def identify(self, row: DelayedQueueRow) -> str:
        """The stream's name."""
        return row.queue.stream

    def text_of(self, row: DelayedQueueRow) -> str:
        """The stream's name."""
        return row.queue.stream

    def is_fault(self, row: DelayedQueueRow) -> bool:
        """Whether messages are due and not moved, or lack their other half."""
        return row.queue.due > 0 or row.queue.bodies != row.queue.messages

    def place_of(self, row: DelayedQueueRow) -> Route:
        """Its messages."""
        return routes.DelayedRoute(row.queue.stream)

    def detail(self, row: DelayedQueueRow) -> Builder:
        """The queue in full."""
        return lambda width: delayed_queue_lines(row, width)

    def name_of(self, row: DelayedQueueRow) -> str:
        """The stream's name."""
        return row.queue.stream

    def position_words(self) -> Line:
        """Whether there may be others, and the rest as everywhere."""
        partly = () if self._complete or not self.rows else (Cell("not all looked for  ", Tone.UNKNOWN),)
        return (*partly, *super().position_words())


OF_MESSAGE: Final = tuple(
    column
    for column in (*DELAYED_COLUMNS, *DELAYED_DETAIL_COLUMNS)
    if column.key not in {"id", "preview", "problem"}
)
PROMOTERS: Final = (
    "A streamops worker that reads the stream promotes due messages to entries. If none runs, due messages wait: "
    "R promotes them now."
)
HALVES: Final = "Some bodies are missing from the queue: they can never become entries."

FOREIGN: Final = "Another program wrote members of this sorted set. They stay untouched: no worker and no operation moves or removes them."


def delayed_queue_lines(row: DelayedQueueRow, width: int) -> list[Line]:
    """A queue in full."""
    queue = row.queue
    lines = paragraph(safe(queue.stream), width, Tone.STRONG)
    lines += column_facts(DELAYED_QUEUE_COLUMNS[1:], row, width)
    if queue.foreign or queue.bodies != queue.messages:
        warning = FOREIGN if queue.foreign else HALVES
        lines += [BLANK_LINE, *paragraph(f"▲ {warning}", width, Tone.WARN, hang=2)]
    return [*lines, BLANK_LINE, *paragraph(PROMOTERS, width, Tone.DIM)]


def delayed_head(row: DelayedQueueRow | None, shown: int) -> list[Line]:
    """What a queue comes to, in a line."""
    if row is None:
        return [(Cell(" counting", Tone.DIM),)]
    queue = row.queue
    cells = [Cell(f" {counted(queue.messages, 'message', 'messages')}", Tone.STRONG)]
    if queue.due:
        cells.append(Cell(f" · {count(queue.due)} due, and not moved yet", Tone.WARN))
    if row.next_due_in is not None:
        late = row.next_due_in.total_seconds() < 0
        when = f"overdue by {duration(-row.next_due_in)}" if late else f"due in {duration(row.next_due_in)}"
        cells.append(Cell(f" · the first {when}"))
    if queue.bodies != queue.messages:
        cells.append(Cell(f" · {count(queue.bodies)} bodies", Tone.WARN))
    if queue.messages > shown:
        cells.append(Cell(f" · the first {count(shown)} are listed", Tone.DIM))
    return [tuple(cells)]


def message_lines(row: DelayedRow, width: int, *, limit: int = SHOWN_BYTES, raw: bool = False) -> list[Line]:
    """A message in full: when it is due, where it goes, and its fields."""
    message = row.message
    lines = paragraph(safe(message.id), width, Tone.STRONG)
    if message.problem:
        lines += paragraph(f"▲ {safe(message.problem)}", width, Tone.WARN, hang=2)
    lines += column_facts(OF_MESSAGE, row, width)
    entry = row.entry
    about = f"{counted(len(entry.fields), 'field', 'fields')} · {size(entry.size)}"
    heading: Line = (Cell(" The entry", Tone.STRONG), Cell(f"  {about}", Tone.DIM))
    return [*lines, BLANK_LINE, heading, *field_lines(entry, width, limit=limit, raw=raw)]
