"""The tail of a stream: its newest entries, those that arrive, and older ones on the way up."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Final

from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.entries import LAST_ID, EntryId, StreamEntry, id_age
from streamops.monitor.search import EntryPage
from streamops.resources.entries import ENTRIES, ENTRY_COLUMNS, EntryRow
from streamops.resources.filters import FIELD_SIGNS
from streamops.resources.kinds import NUMBER, of_rows, seconds
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.resources.units import brief, count
from streamops.tui import routes
from streamops.tui.lines import words
from streamops.tui.lines.payload import entry_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.polling.follower import RecentEntries, Tailed, TailLost
from streamops.tui.routes import Route
from streamops.tui.rows.ordering import PerItemCache
from streamops.tui.screens.listing import Listing
from streamops.tui.screens.marking import Marking
from streamops.tui.widgets.paint import Line
from streamops.tui.widgets.text_view import Builder

PANE_BYTES = 8 * 1024
ENTRY = of_rows(EntryRow)
ALL: Final = {column.key: column for column in ENTRY_COLUMNS}
CONTENT: Final = ALL["preview"]
"""So wide that an ID, an age and a size beside it leave it three fifths of the list."""
MORE_COLUMNS: Final = (ALL["time"], ALL["field_count"])


def _columns(age_of: Callable[[EntryRow], timedelta | None]) -> Iterator[Column[EntryRow]]:
    """An ID as wide as IDs are, the age, the size where there is room, and the content in all that is left."""

    def age(row: EntryRow) -> Cell:
        span = age_of(row)
        return Cell(brief(span), Tone.UNKNOWN if span is None else Tone.DIM)

    yield replace(ALL["id"], flexible=True)
    # Ages of rows that are told at different times are compared by what makes them.
    yield ENTRY.column(
        "age_seconds",
        "AGE",
        5,
        lambda row: seconds(age_of(row)),
        age,
        rank=lambda row: (-row.entry.id.ms, -row.entry.id.seq),
        priority=0,
        **NUMBER,
    ).means(
        "Time since the entry was added, by its ID and the server's clock when it was last read; ? where the ID is no such time.",
        "TIME, minus the time in the ID",
    )
    yield ALL["size"]
    yield CONTENT


class EntryList(Marking[EntryRow]):
    """Entries as rows; subclasses see to it that there are some, and say if one is.

    Args:
        place: The place.
        app_state: What is known now.
        stream: The stream that the entries are of.
    """

    CRUMB: ClassVar[str]

    def __init__(self, place: Route, app_state: AppState, stream: str) -> None:
        resource = replace(ENTRIES, columns=tuple(_columns(self._age)), more=MORE_COLUMNS)
        listing = Listing(resource=resource, hints=self.HINTS, literal=FIELD_SIGNS)
        super().__init__(place, app_state, listing)
        self._stream = stream
        self._rows: Sequence[EntryRow] = ()
        self._now: datetime | None = None

    def show_body(self, app_state: AppState) -> None:
        """Show the rows as old as they are now."""
        if app_state.now != self._now:
            self._now = app_state.now
            self.list.redraw()
        super().show_body(app_state)

    def rows_of(self, app_state: AppState) -> Sequence[EntryRow]:
        """The entries there are to show."""
        del app_state
        return self._rows

    def place_of(self, row: EntryRow) -> Route:
        """The entry."""
        return routes.EntryRoute(self._stream, row.entry.id, (self._stream, self.CRUMB), row.entry)

    def detail(self, row: EntryRow) -> Builder:
        """The entry with its payload."""
        now = self._now
        return lambda width: entry_lines(row.entry, now, width, limit=PANE_BYTES)

    def _age(self, row: EntryRow) -> timedelta | None:
        return id_age(row.entry.id, self._now)


PAGE = 100


class EntriesScreen(EntryList):
    """Entries, oldest on top. While the cursor is on the last one, it follows what arrives."""

    CRUMB = "tail"
    HINTS = (
        ("open", "entry"),
        ("tail", "follow"),
        "filter",
        ("first", "older"),
        "freeze",
        "back",
    )

    def __init__(self, place: routes.EntriesRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, place.stream)
        self._kept = RecentEntries()
        self._as_row = PerItemCache[StreamEntry, EntryRow](lambda entry: EntryRow(self._stream, entry))
        self._older: EntryId | None = None
        self._asked = False
        self._read = False
        self._afresh = False
        self._dropped = 0
        self._error = ""

    @property
    def following(self) -> bool:
        """Whether the cursor is on the last entry, and so goes with what arrives."""
        return self.list.cursor >= len(self.list.rows) - 1

    def on_mount(self) -> None:
        """Read the newest page, then follow."""
        self.reread()

    def reread(self) -> None:
        """Read the newest page where that has not been possible; once it was, the tail is live."""
        if not self._read and not self._asked:
            self._ask()

    def acted(self) -> None:
        """Read the newest page again: entries that were deleted leave."""
        if self._read and not self._asked:
            self._afresh = True
            self._ask()

    # -- what arrives --------------------------------------------------------------------------------

    def _take(self, page: EntryPage) -> None:
        """Take a page of older entries; the first one starts the tail."""
        if self._afresh:
            self._forget(page)
        self._kept.add_older(page.entries)
        self._older, self._asked, self._error = page.next_id, False, ""
        first, self._read = not self._read, True
        self._changed()
        if first:
            after = page.entries[0].id if page.entries else None
            self.console.follow(self, self._stream, after)

    def _forget(self, page: EntryPage) -> None:
        """Keep only what arrived after a page, which is going to be added before it."""
        self._afresh = False
        entries, _ = self._kept.take()
        self._kept.add(entry for entry in entries if not page.entries or entry.id > page.entries[0].id)

    def unread(self, error: StreamopsError) -> None:
        """Say why there are no entries."""
        self._afresh = False
        self._asked, self._error = False, safe(words.error_text(error))
        self.show_body(self.app_state)

    def on_tailed(self, message: Tailed) -> None:
        """Take what arrived."""
        self._kept.add(message.entries)
        self._dropped += message.dropped
        self._error = ""
        if self._kept.left:
            # What left would be missing between older entries and these.
            self._older = None
        if not self.app_state.frozen:
            self._changed()

    def on_tail_lost(self, message: TailLost) -> None:
        """Say that the tail broke off."""
        self._error = f"tail stopped: {safe(message.error.message)}"
        self.show_bars()

    def _changed(self) -> None:
        following = self.following
        self._rows = self._as_row.values(self._kept.entries())
        self.show_body(self.app_state)
        if following:
            self.follow()

    # -- what it shows -------------------------------------------------------------------------------

    def show(self, app_state: AppState) -> None:
        """Take up what arrived while the screen was frozen."""
        thawed = self.app_state.frozen and not app_state.frozen
        super().show(app_state)
        if thawed:
            self._changed()

    def empty_note(self) -> str:
        """Why there are no entries."""
        if self._error:
            return self._error
        return "the stream is empty; new entries appear here" if self._read else "reading"

    def position_words(self) -> Line:
        """Whether it follows, what was dropped, and the cursor."""
        cells = [Cell(f"{self._error}  ", Tone.CRITICAL)] if self._error and self._rows else []
        if self._dropped:
            cells.append(Cell(f"{count(self._dropped)} skipped: too fast to show  ", Tone.WARN))
        state = Cell("following  ", Tone.OK) if self.following else Cell("t follows  ", Tone.DIM)
        return (*cells, state, *words.position(self.list.cursor, len(self.list.rows)))

    # -- moving --------------------------------------------------------------------------------------

    def on_line_view_highlighted(self) -> None:
        """Read older entries on the first row."""
        if self.list.cursor == 0 and self._older is not None and not self._asked and not self._kept.full:
            self._ask(self._older)

    def follow(self) -> bool:
        """Go to the newest entry and stay with it."""
        self.list.move_to(len(self.list.rows) - 1)
        self.show_bars()
        return True

    def _ask(self, before: EntryId | None = None) -> None:
        self._asked = True
        end = LAST_ID if before is None else before.previous()
        self.fetch(
            lambda source: source.read_entries(self._stream, end=end, count=PAGE, newest_first=True),
            self._take,
        )
