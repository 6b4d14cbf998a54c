"""What is read on demand: a list, again at a pace that its cost allows, or one thing in full."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from time import monotonic
from typing import Any, ClassVar, Final, Generic, TypeVar

from msgspec import Struct
from textual.widget import Widget

from streamops.errors import StreamopsError
from streamops.model.streams import ReadError
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.lines import words
from streamops.tui.lines.details import gap_text
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.frame import Frame
from streamops.tui.screens.listing import Listing, ListScreen
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Head, TextView

Thing = TypeVar("Thing")


class ReadingFrame(Frame, Generic[Thing]):
    """Text about one thing. Subclasses say what to read and what to say of it.

    Attributes:
        thing: What was read last; none before the first time.
        error: Why it could not be read the last time.
    """

    follows: ClassVar[bool] = False
    """Whether it is read again with every observation: where the console is frozen or cut off, it stays as it is."""

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._view = TextView(id="main")
        self._is_reading = False
        self.thing: Thing | None = None
        self.error = ""

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self._view

    def on_mount(self) -> None:
        """Say what is known, and read the rest."""
        self.refresh_detail()
        self.reread()

    @abstractmethod
    async def read(self, source: Source) -> Thing:
        """Read it; raises ``StreamopsError``."""

    @abstractmethod
    def lines(self, thing: Thing, width: int) -> Sequence[Line]:
        """What to say of it."""

    def show(self, app_state: AppState) -> None:
        """Read it again where there is a new observation, and it follows."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if newer and self.follows:
            self.reread()

    def reread(self) -> None:
        """Read it again, unless that is under way."""
        if not self._is_reading:
            self._is_reading = True
            self.fetch(self.read, self.take)

    def take(self, thing: Thing) -> None:
        """Keep what was read."""
        self._is_reading, self.error, self.thing = False, "", thing
        self.refresh_detail()

    def unread(self, error: StreamopsError) -> None:
        """Say why it could not be read; what was read before stays."""
        self._is_reading = False
        self.error = safe(words.error_text(error))
        self.refresh_detail()

    def refresh_detail(self) -> None:
        """Show what is known now."""
        self._view.show(self._build)
        self.show_bars()

    def selection(self) -> Selection | None:
        """What the place is about."""
        return self.selection_of(None)

    def copyable(self) -> str:
        """The ID or name of the thing."""
        return self.place.names[-1]

    def _build(self, width: int) -> Sequence[Line]:
        failed: list[Line] = [(Cell(f" ✗ {self.error}", Tone.CRITICAL),), BLANK_LINE] if self.error else []
        if self.thing is None:
            return failed or [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        return [*failed, *self.lines(self.thing, width)]


class FieldsFrame(ReadingFrame[Thing]):
    """Text about one thing that has fields.

    Attributes:
        is_raw: Whether values are shown as they came, if they have another form.
    """

    is_raw = False

    def action_raw(self) -> None:
        """Show text as it came, or decoded again."""
        self.is_raw = not self.is_raw
        self.refresh_detail()


Row = TypeVar("Row")

REST: Final = 20.0
"""A read that took a second is not made again for so many."""


class Page(Struct, Generic[Row], frozen=True, kw_only=True):
    """What was read for a list.

    Attributes:
        rows: Its rows.
        nothing: Why there are none.
        gaps: What could not be read.
        whole: What the rows are part of, for the lines above the list and for the next read.
        note: What the list lacks; empty for nothing.
    """

    rows: Sequence[Row] = ()
    nothing: str = "reading"
    gaps: tuple[ReadError, ...] = ()
    whole: Any = None
    note: str = ""


class ReadList(Listing[Row], frozen=True, kw_only=True):
    """A list of what no observation holds.

    Attributes:
        read: Reads it; raises ``StreamopsError``.
        every: Seconds from one read to the next, at least.
        head: Lines above the list, made of the page, what is known, and the width.
        needs: What of the observation has to be known before it is read; a change of it is read at once.
    """

    read: Callable[["ReadListing[Row]", Source], Awaitable[Page[Row]]]
    every: float = 10.0
    head: Callable[[Page[Row], AppState, int], Sequence[Line]] | None = None
    needs: Callable[[AppState], object] = lambda _: ()

    def __call__(self, place: Route, app_state: AppState) -> "ReadListing[Row]":
        """The screen of the list."""
        return ReadListing(place, app_state, self)


class ReadListing(ListScreen[Row]):
    """Rows that are read with new observations: a frozen screen and a lost server are left alone.

    They are read not more often than their list says, and less often where reading takes long.

    Attributes:
        page: What was read last.
        read_at: When, on the monotonic clock; none before the first time.
        error: Why it could not be read the last time.
        is_afresh: Whether the read under way was asked for, and is not one of those that follow as time goes by.
    """

    def __init__(self, place: Route, app_state: AppState, listing: ReadList[Row]) -> None:
        super().__init__(place, app_state, listing)
        self._list = listing
        self.page = Page[Row]()
        self.read_at: float | None = None
        self.error = ""
        self.is_afresh = True
        self._asked_at: float | None = None
        self._due_at = 0.0
        self._needed: object = None
        self._head = Head(id="head")

    def compose_body(self) -> Iterable[Widget]:
        """The lines above, the list and the pane."""
        if self._list.head is not None:
            yield self._head
        yield from super().compose_body()

    def on_mount(self) -> None:
        """Read for the first time."""
        self.reread()

    def reread(self) -> None:
        """Read again, unless that is under way."""
        self._ask(is_afresh=True)

    def show(self, app_state: AppState) -> None:
        """Read again where there is a new observation and it is time."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if newer and self._needed is not None and self._list.needs(app_state) != self._needed:
            self.reread()
        elif newer and monotonic() >= self._due_at:
            self._ask(is_afresh=False)

    def show_body(self, app_state: AppState) -> None:
        """Show the rows, and the lines above."""
        super().show_body(app_state)
        if (head := self._list.head) is not None:
            page = self.page
            self._head.show(lambda width: head(page, app_state, width))

    def unread(self, error: StreamopsError) -> None:
        """Say why it could not be read; what was read before stays."""
        self._over()
        self.error = safe(error.message)
        self.show_body(self.app_state)

    def rows_of(self, app_state: AppState) -> Sequence[Row]:
        """What was read last."""
        del app_state
        return self.page.rows

    def empty_note(self) -> str:
        """Why nothing is listed."""
        if self.error:
            return f"✗ {self.error}"
        nothing, gaps = self.page.nothing, self.page.gaps
        return nothing if not gaps else f"{nothing}; {_unread(gaps)}"

    def position_words(self) -> Line:
        """What went wrong, how old the rows are, and the cursor."""
        page, rows = self.page, self.list.rows
        cells = [Cell(f"{page.note}  ", Tone.UNKNOWN)] if page.note and rows else []
        if self.error and rows:
            cells.append(Cell(f"{self.error}  ", Tone.CRITICAL))
        if page.gaps and rows:
            cells.append(Cell(f"{_unread(page.gaps)}  ", Tone.WARN))
        return (*cells, *words.read_age(self.read_at), *words.position(self.list.cursor, len(rows)))

    def _ask(self, *, is_afresh: bool) -> None:
        needed = self._list.needs(self.app_state)
        if needed is not None and self._asked_at is None:
            self._asked_at, self.is_afresh, self._needed = monotonic(), is_afresh, needed
            self.fetch(lambda source: self._list.read(self, source), self.take)

    def take(self, page: Page[Row]) -> None:
        """Show what was read."""
        self._over()
        self.error, self.read_at, self.page = "", monotonic(), page
        self.show_body(self.app_state)

    def _over(self) -> None:
        now = monotonic()
        cost = now - (self._asked_at or now)
        self._asked_at = None
        self._due_at = now + max(self._list.every, cost * REST)


def _unread(gaps: Sequence[ReadError]) -> str:
    more = f", and {len(gaps) - 1} more" if len(gaps) > 1 else ""
    return f"{gap_text(gaps[0])}{more}"
