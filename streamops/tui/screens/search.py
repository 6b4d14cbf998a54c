"""Entries whose payloads hold what is looked for: found newest first, by a scan that says how far it is."""

from collections.abc import Sequence
from datetime import timedelta
from time import monotonic

from streamops.errors import SettingsError, StreamopsError
from streamops.model.entries import StreamEntry
from streamops.model.wording import counted
from streamops.monitor.search import Search, SearchResult
from streamops.resources.entries import EntryRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, percent, timestamp
from streamops.tui import routes
from streamops.tui.lines import words
from streamops.tui.polling.app_state import AppState
from streamops.tui.polling.follower import KEPT_BYTES, KEPT_ENTRIES
from streamops.tui.rows.finding import Scan, query
from streamops.tui.screens.entries import EntryList
from streamops.tui.widgets.paint import Line

ROOM_FOR_COST = 100


class SearchScreen(EntryList):
    """What was found so far. Esc stops the scan, ``g`` goes on where it stopped."""

    CRUMB = "search"
    HINTS = (
        ("open", "entry"),
        "go_on",
        ("search", "search again"),
        "filter",
        ("back", "stop, back"),
    )

    def __init__(self, place: routes.SearchRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, place.stream)
        self._text = place.text
        self._scan = Scan()
        self._wanted: Search | None = None
        self._scanning = self._asked = False
        self._began = 0.0
        self._error = ""
        self._bytes = 0

    def on_mount(self) -> None:
        """Begin."""
        try:
            self._wanted = query(self._text)
        except SettingsError as error:
            self._error = safe(f"{error.message}; {error.hint}")
        self.action_go_on()

    # -- scanning ------------------------------------------------------------------------------------

    def action_go_on(self) -> None:
        """Go on where the scan stopped, with another budget."""
        if self._scanning or self._scan.over or self._wanted is None or self._full:
            return
        self._scan = self._scan.renewed()
        self._scanning, self._error = True, ""
        self._ask()
        self.show_bars()

    def cancel(self) -> bool:
        """Stop the scan before anything else is left."""
        if self._scanning:
            self._scanning = False
            self.show_body(self.app_state)
            return True
        return super().cancel()

    def reread(self) -> None:
        """Go on where the connection was lost."""
        if self._error:
            self.action_go_on()

    def acted(self) -> None:
        """What was found stays as it was found: opening an entry tells whether it is still there."""

    def _take_slice(self, result: SearchResult) -> None:
        """Take what a slice found, and look at the next one."""
        self._asked = False
        self._scan = self._scan.after(result, timedelta(seconds=monotonic() - self._began))
        self._take(result.entries)
        if self._scan.over or self._scan.spent or self._full:
            self._scanning = False
        if self._scanning:
            self._ask()
        self.show_body(self.app_state)

    def unread(self, error: StreamopsError) -> None:
        """Say why the scan broke off."""
        self._asked = self._scanning = False
        self._error = safe(words.error_text(error))
        self.show_body(self.app_state)

    @property
    def _full(self) -> bool:
        return len(self._rows) >= KEPT_ENTRIES or self._bytes >= KEPT_BYTES

    def _ask(self) -> None:
        if self._wanted is not None and not self._asked:
            self._asked, self._began = True, monotonic()
            query = self._scan.slice_of(self._wanted)
            self.fetch(lambda source: source.search(self._stream, query), self._take_slice)

    def _take(self, entries: Sequence[StreamEntry]) -> None:
        if entries:
            self._rows = (*self._rows, *(EntryRow(self._stream, entry) for entry in entries))
            self._bytes += sum(entry.size for entry in entries)

    # -- what it shows -------------------------------------------------------------------------------

    def empty_note(self) -> str:
        """How far it is, or why nothing was found."""
        if self._scanning:
            return "searching, newest first; Esc stops"
        if self._error:
            return self._error
        if self._scan.over:
            return f"no entry matches {safe(self._text)}; all were searched: {self._scan.words}"
        return f"no match for {safe(self._text)} so far; g continues"

    def selection_words(self) -> Line:
        """What is looked for, beside the filter."""
        return (*super().selection_words(), Cell(f"{safe(self._text)} ", Tone.OK))

    def position_words(self) -> Line:
        """How far the scan is, and the cursor."""
        return (*self._state(), *words.position(self.list.cursor, len(self.list.rows)))

    def _state(self) -> Line:
        scan = self._scan
        words = scan.words if self.size.width >= ROOM_FOR_COST else counted(scan.scanned, "entry", "entries")
        found = Cell(f"{count(scan.found)} found in {words}{self._share()}  ", Tone.DIM)
        if self._scanning:
            return (Cell("searching: ", Tone.WARN), found)
        if self._error:
            return (Cell(f"{self._error}  ", Tone.CRITICAL), found)
        if scan.over:
            return (Cell("searched all: ", Tone.OK), found)
        back = f" at {timestamp(scan.at.time)}" if scan.at is not None and scan.at.time is not None else ""
        why = "no more is kept" if self._full else scan.spent or "stopped"
        onward = "" if self._full else ", g continues"
        return (Cell(f"{why}{back}{onward}  ", Tone.WARN), found)

    def _share(self) -> str:
        """How much of the stream was looked at, as far as its length is known."""
        view = self.app_state.find_stream(self._stream)
        length = 0 if view is None else view.stream.length
        return f", {percent(min(self._scan.scanned / length, 1.0))}" if length and not self._scan.over else ""
