"""Lists that are read by the page: the next one when the cursor nears the end, the first one again where it is asked for."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from time import monotonic
from typing import Final, Generic, TypeAlias, TypeVar

from textual.widget import Widget

from streamops.errors import StreamopsError
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.lines import words
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import Listing, ListScreen
from streamops.tui.source import Source
from streamops.tui.widgets.paint import Line
from streamops.tui.widgets.text_view import Head

Row = TypeVar("Row")
After = TypeVar("After")
Summary = TypeVar("Summary")
PageOfRows: TypeAlias = tuple[Sequence[Row], After | None]
"""Rows, and what the next page begins after; none at the end."""

PAGE: Final = 100
AHEAD: Final = 20
"""The next page is read when so many rows are left below the cursor."""


class PagedList(ListScreen[Row], Generic[Row, After]):
    """Rows read by the page. Subclasses say how.

    Attributes:
        read_rows: The rows of all pages so far.
        after: What the next page begins after; none at the end.
        read_at: When the first page was read, on the monotonic clock; none before that.
        error: Why a page could not be read the last time.
        is_reading: Whether a page is on its way.
    """

    def __init__(self, place: Route, app_state: AppState, listing: Listing[Row]) -> None:
        super().__init__(place, app_state, listing)
        self.read_rows: tuple[Row, ...] = ()
        self.after: After | None = None
        self.read_at: float | None = None
        self.error = ""
        self.is_reading = False
        self._asked = 0

    @abstractmethod
    async def read_page(self, source: Source, after: After | None) -> PageOfRows[Row, After]:
        """Read the first page, or the next one; raises ``StreamopsError``."""

    @abstractmethod
    def nothing(self) -> str:
        """Why nothing is listed, where a page was read."""

    def reads_on(self) -> bool:
        """Whether there is a next page."""
        return self.after is not None

    def more_words(self) -> str:
        """What the status line says of rows that were not read; empty if there are none."""
        return "and more " if self.after is not None else ""

    def on_mount(self) -> None:
        """Read the first page."""
        self.reread()

    def reread(self) -> None:
        """Begin again; the rows shown stay until the first page is there."""
        self.ask_for_page(None)

    def on_line_view_highlighted(self) -> None:
        """Read on where the cursor nears the end."""
        near = self.list.cursor >= len(self.list.rows) - AHEAD
        if near and self.reads_on() and not self.is_reading:
            self.ask_for_page(self.after)

    def ask_for_page(self, after: After | None) -> None:
        """Read a page; one that is on its way already is not wanted any more."""
        self._asked += 1
        self.is_reading = True
        self.fetch(
            lambda source: self.read_page(source, after),
            partial(self._take_page, self._asked, is_first=after is None),
            partial(self._lack_page, self._asked),
        )

    def _take_page(self, asked: int, page: PageOfRows[Row, After], *, is_first: bool) -> None:
        if asked != self._asked:
            return
        rows, self.after = page
        self.read_rows = tuple(rows) if is_first else (*self.read_rows, *rows)
        self.read_at = monotonic() if is_first else self.read_at
        self.is_reading, self.error = False, ""
        self.show_body(self.app_state)

    def _lack_page(self, asked: int, error: StreamopsError) -> None:
        if asked == self._asked:
            self.is_reading, self.error = False, safe(words.error_text(error))
            self.show_body(self.app_state)

    def rows_of(self, app_state: AppState) -> Sequence[Row]:
        """What was read so far."""
        del app_state
        return self.read_rows

    def empty_note(self) -> str:
        """Why nothing is listed."""
        return self.error or ("reading" if self.read_at is None else self.nothing())

    def position_words(self) -> Line:
        """What went wrong, the cursor, and whether there is more."""
        failed = Cell(f"{self.error}  ", Tone.CRITICAL) if self.error and self.read_rows else Cell("")
        position = words.position(self.list.cursor, len(self.list.rows))
        return (failed, *position, Cell(self.more_words(), Tone.DIM))


class SummarizedList(PagedList[Row, After], Generic[Row, After, Summary]):
    """Rows read by the page, under what all of them come to.

    Attributes:
        summary: What they came to when that was read last; none before.
        summed_at: When it was asked for, on the monotonic clock.
    """

    def __init__(self, place: Route, app_state: AppState, listing: Listing[Row]) -> None:
        super().__init__(place, app_state, listing)
        self.summary: Summary | None = None
        self.summed_at = 0.0
        self._head = Head(id="head")

    @abstractmethod
    async def read_summary(self, source: Source) -> Summary:
        """Sum up; raises ``StreamopsError``."""

    @abstractmethod
    def summary_lines(self, summary: Summary | None, width: int) -> Sequence[Line]:
        """What to say above the list; of none while it is being read."""

    def compose_body(self) -> Iterable[Widget]:
        """What all of it comes to, the list and the pane."""
        yield self._head
        yield from super().compose_body()

    def on_mount(self) -> None:
        """Say that it is being summed up."""
        self._head.show(partial(self.summary_lines, None))

    def reread(self) -> None:
        """Begin again with the first page, and sum up again."""
        super().reread()
        self.sum_up()

    def position_words(self) -> Line:
        """With how old the list is."""
        failed, *others = super().position_words()
        return (failed, *words.read_age(self.read_at), *others)

    def sum_up(self) -> None:
        """Read what all of it comes to."""
        self.summed_at = monotonic()
        self.fetch(self.read_summary, self._take_summary, self._lack_summary)

    def _take_summary(self, summary: Summary) -> None:
        self.summary = summary
        self._head.show(partial(self.summary_lines, summary))

    def _lack_summary(self, error: StreamopsError) -> None:
        reason = safe(words.error_text(error))
        self._head.show(lambda _: [(Cell(f" ✗ {reason}", Tone.CRITICAL),)])
