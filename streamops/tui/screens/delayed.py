"""The delayed messages beside one stream, the first due first."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace
from textual.widget import Widget

from streamops.monitor.delayed import DelayedPage
from streamops.present.columns.delayed import DELAYED_COLUMNS, DELAYED_DETAIL_COLUMNS
from streamops.present.delayed import DelayedQueueRow, DelayedRow
from streamops.tui import places
from streamops.tui.beside.delayed_lines import delayed_head, message_lines
from streamops.tui.head import Head
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.read_listing import ReadListing
from streamops.tui.screens.whole import WholeMarking
from streamops.tui.source import Source
from streamops.tui.subjects import Sort, Subject
from streamops.tui.text_view import Builder

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
        ("enter", "message"),
        ("* !", "mark all, others"),
        ("/", "filter"),
        ("o i", "sort"),
        ("esc", "back"),
    )

    def __init__(self, place: places.Delayed, moment: Moment) -> None:
        super().__init__(place, moment, COLUMNS, DELAYED_DETAIL_COLUMNS)
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
        return "no delayed messages beside the stream"

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

    def place_of(self, row: DelayedRow) -> Place:
        """The message."""
        return places.OneDelayed(self._delayed_place.stream, row.message.id)

    def detail(self, row: DelayedRow) -> Builder:
        """The message in full."""
        return lambda width: message_lines(row, width, limit=PANE_BYTES)

    def name_of(self, row: DelayedRow) -> str:
        """The message's ID."""
        return row.message.id

    def whole_subject(self) -> Subject:
        """The queue."""
        return Subject(sort=Sort.QUEUE, stream=self._delayed_place.stream)
