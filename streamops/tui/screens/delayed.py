"""Delayed messages: all queues, the messages of one, and one message."""

from collections.abc import Sequence
from typing import Final

from streamops.model.wording import counted
from streamops.resources.delayed import (
    DELAYED_COLUMNS,
    DELAYED_DETAIL_COLUMNS,
    DELAYED_MESSAGES,
    DELAYED_QUEUE_COLUMNS,
    DELAYED_QUEUES,
    DelayedQueueRow,
    DelayedRow,
)
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, duration
from streamops.tui import routes
from streamops.tui.lines.details import column_facts, paragraph
from streamops.tui.lines.payload import SHOWN_BYTES, own_fields
from streamops.tui.polling.app_state import AppState
from streamops.tui.rows.selection import Selection, SelectionKind
from streamops.tui.screens.marking import WholeMarking
from streamops.tui.screens.read_listing import FieldsFrame, Page, ReadList, ReadListing
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line

PANE_BYTES: Final = 8 * 1024
MOST_READ: Final = 500


class DelayedScreen(ReadListing[DelayedRow], WholeMarking[DelayedRow]):
    """Messages by when they are due, then bodies that the queue does not name; ``*`` twice takes the whole queue."""

    def __init__(self, place: routes.DelayedRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, MESSAGE_LIST)
        self.stream = place.stream

    def whole_selection(self) -> Selection:
        """All messages of the queue."""
        return Selection(sort=SelectionKind.QUEUE, stream=self.stream, chosen="the whole queue")


async def _read_messages(screen: ReadListing[DelayedRow], source: Source) -> Page[DelayedRow]:
    stream = screen.stream_name() or ""
    page = await source.delayed.page(stream, MOST_READ)
    return Page(
        rows=tuple(DelayedRow(stream, one, page.now) for one in (*page.messages, *page.strays)),
        nothing="no delayed messages for the stream",
        whole=(DelayedQueueRow(page.queue, page.now), len(page.messages)),
    )


GONE = "it is gone: it became an entry, or was removed"


class DelayedMessageScreen(FieldsFrame[DelayedRow]):
    """A message in full; ``v`` shows its fields as they came."""

    HINTS = (
        ("raw", "raw"),
        ("read_now", "reload"),
        ("up down", "scroll"),
        ("copy_id", "copy ID"),
        "back",
    )

    async def read(self, source: Source) -> DelayedRow:
        """The message."""
        stream, message_id = self.place.names
        (message,) = await source.delayed.messages(stream, [message_id])
        return DelayedRow(stream, message, await source.delayed.clock(stream))

    def lines(self, thing: DelayedRow, width: int) -> Sequence[Line]:
        """All of it."""
        if not thing.message.exists:
            return [BLANK_LINE, (Cell(f" {GONE}", Tone.WARN),)]
        return message_lines(thing, width, raw=self.is_raw)


OF_MESSAGE: Final = tuple(
    column
    for column in (*DELAYED_COLUMNS, *DELAYED_DETAIL_COLUMNS)
    if column.key not in {"id", "preview", "problem"}
)
PROMOTERS: Final = "The streamops workers of a stream move due messages to it. R moves those that are due now; in the list, others too."
HALVES: Final = "Some messages lack their bodies: they can never become entries."

FOREIGN: Final = (
    "Another program wrote members of this sorted set. No worker and no operation moves or removes them."
)


def delayed_queue_lines(row: DelayedQueueRow, width: int) -> list[Line]:
    """A queue in full."""
    queue = row.queue
    lines = paragraph(safe(queue.stream), width, Tone.STRONG)
    lines += column_facts(DELAYED_QUEUE_COLUMNS[1:], row, width)
    if queue.foreign or queue.bodies != queue.messages:
        warning = FOREIGN if queue.foreign else HALVES
        lines += [BLANK_LINE, *paragraph(f"▲ {warning}", width, Tone.WARN, hang=2)]
    return [*lines, BLANK_LINE, *paragraph(PROMOTERS, width, Tone.DIM)]


def delayed_head(page: Page[DelayedRow], _app_state: AppState, _width: int) -> list[Line]:
    """What a queue comes to, in a line."""
    if page.whole is None:
        return [(Cell(" counting", Tone.DIM),)]
    row: DelayedQueueRow
    row, shown = page.whole
    queue = row.queue
    cells = [Cell(f" {counted(queue.messages, 'message', 'messages')}", Tone.STRONG)]
    if queue.due:
        cells.append(Cell(f" · {count(queue.due)} due, not moved yet", Tone.WARN))
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
    return [*lines, BLANK_LINE, *own_fields(row.entry, width, limit=limit, raw=raw)]


MESSAGE_LIST: Final = ReadList(
    resource=DELAYED_MESSAGES,
    hints=(("open", "message"), ("mark_all mark_others", "mark all, others"), "filter", "sort", "back"),
    read=_read_messages,
    every=5.0,
    head=delayed_head,
    leads=lambda row: routes.DelayedMessageRoute(row.stream, row.message.id),
    detail=lambda row, width: message_lines(row, width, limit=PANE_BYTES),
)


async def _read_queues(_screen: ReadListing[DelayedQueueRow], source: Source) -> Page[DelayedQueueRow]:
    found = await source.find_delayed()
    return Page(
        rows=tuple(DelayedQueueRow(queue, found.now) for queue in found.queues),
        nothing="no delayed messages for the known streams",
        gaps=found.gaps,
        note="" if found.complete else "not all searched",
    )


# Finding the queues goes through all keys.
QUEUE_LIST: Final = ReadList(
    resource=DELAYED_QUEUES,
    hints=(("open", "messages"), "tail", "filter", "sort", "back"),
    read=_read_queues,
    every=15.0,
    leads=lambda row: routes.DelayedRoute(row.queue.stream),
    detail=delayed_queue_lines,
)
