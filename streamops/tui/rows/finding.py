"""A search in the payloads of a stream: what is looked for, and how far a scan got. Pure."""

from datetime import timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.entries import LAST_ID, EntryId
from streamops.model.expressions import Expression
from streamops.model.wording import counted
from streamops.monitor.search import EntryWords, Search, SearchResult, StopReason
from streamops.resources.units import duration, size
from streamops.tui.routes import WHERE

SLICE: Final = timedelta(milliseconds=200)
"""How long one read goes on: so often is told how far it is, and so soon it can be stopped."""

PAGE: Final = 200
EXPRESSION_PAGE: Final = 100
"""While a page is taken apart no key is answered: ten microseconds an entry, and twice that with an expression."""

MOST_FOUND: Final = 500
MOST_ENTRIES: Final = 1_000_000
MOST_BYTES: Final = 1 << 30
MOST_TIME: Final = timedelta(seconds=60)
"""What one go may find, look at and take; it can be gone on with."""


def problem(text: str) -> str:
    """What is wrong with what is looked for; empty if nothing is."""
    try:
        query(text)
    except SettingsError as error:
        return f"{error.message}; {error.hint}"
    return ""


def query(text: str) -> Search:
    """What is looked for, a slice of it at a time; raises ``SettingsError`` if it cannot be understood."""
    if text.startswith(WHERE):
        where = Expression(text.removeprefix(WHERE).strip())
        return Search(where=where, newest_first=True, max_time=SLICE, page=EXPRESSION_PAGE)
    return Search(words=EntryWords.parse(text), newest_first=True, max_time=SLICE, page=PAGE)


class Scan(Struct, frozen=True):
    """How far a search is.

    Attributes:
        scanned: Entries scanned, in all.
        size: Bytes of them.
        took: Time that it took, in all.
        found: How many were found, in all.
        at: The oldest ID scanned; none before the first.
        over: Whether there is nothing left to look at.
        entries_left: What this go may still look at.
        bytes_left: The same in bytes.
        time_left: The same in time.
        found_left: How many it may still find.
    """

    scanned: int = 0
    size: int = 0
    took: timedelta = timedelta(0)
    found: int = 0
    at: EntryId | None = None
    over: bool = False
    entries_left: int = MOST_ENTRIES
    bytes_left: int = MOST_BYTES
    time_left: timedelta = MOST_TIME
    found_left: int = MOST_FOUND

    def renewed(self) -> "Scan":
        """The same with the budget of another go."""
        return replace(
            self,
            entries_left=MOST_ENTRIES,
            bytes_left=MOST_BYTES,
            time_left=MOST_TIME,
            found_left=MOST_FOUND,
        )

    def slice_of(self, wanted: Search) -> Search:
        """What to look at next."""
        end = LAST_ID if self.at is None else self.at.previous()
        return replace(
            wanted,
            end=end,
            limit=self.found_left,
            max_scan=self.entries_left,
            max_bytes=self.bytes_left,
        )

    def after(self, result: SearchResult, took: timedelta) -> "Scan":
        """How far it is after a slice."""
        at = result.last_id or self.at
        # The first ID of all has none before it.
        over = result.stopped is StopReason.END or at == EntryId(0, 0)
        return replace(
            self,
            scanned=self.scanned + result.scanned,
            size=self.size + result.size,
            took=self.took + took,
            found=self.found + len(result.entries),
            at=at,
            over=over,
            entries_left=max(self.entries_left - result.scanned, 0),
            bytes_left=max(self.bytes_left - result.size, 0),
            time_left=max(self.time_left - took, timedelta(0)),
            found_left=max(self.found_left - len(result.entries), 0),
        )

    @property
    def spent(self) -> str:
        """Which budget of this go is used up, in words; empty if none is."""
        if not self.found_left:
            return f"{MOST_FOUND:,} found"
        if not self.entries_left:
            return f"{MOST_ENTRIES:,} scanned"
        if not self.bytes_left:
            return f"{size(MOST_BYTES)} scanned"
        return f"{duration(MOST_TIME)} spent" if not self.time_left else ""

    @property
    def words(self) -> str:
        """What was scanned."""
        return f"{counted(self.scanned, 'entry', 'entries')}, {size(self.size)} in {duration(self.took)}"
