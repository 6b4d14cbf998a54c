"""Looking for entries: a scan with a limit, which says how far it got and why it stopped."""

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.operate.pages import EntryPage

if TYPE_CHECKING:
    # Only searches with an expression pay for the library behind it.
    from streamops.analysis.expressions import Expression
    from streamops.analysis.words import EntryWords

PAGE_ENTRIES: Final = 1_000


class StopReason(StrEnum):
    """Why a search ended."""

    END = "end"
    LIMIT = "limit"
    MAX_SCAN = "max_scan"
    MAX_BYTES = "max_bytes"
    MAX_TIME = "max_time"


class Search(Struct, frozen=True):
    """What to look for, and where to stop.

    Attributes:
        start: The first ID to look at, inclusive.
        end: The last ID to look at, inclusive.
        fields: Name and value pairs that an entry must all have, byte for byte.
        where: An expression that must hold; none for no further condition.
        words: Words that must be there; none for no further condition.
        limit: Stop after this many matches.
        max_scan: Stop after this many entries looked at.
        max_bytes: Stop after a page with which so many bytes of entries were looked at; none for no such limit.
        max_time: Stop after a page that ended so long after the beginning; none for no such limit.
        newest_first: Go from the end to the start.
        page: Entries asked for at a time.
    """

    start: EntryId = ZERO_ID
    end: EntryId = LAST_ID
    fields: tuple[tuple[bytes, bytes], ...] = ()
    where: "Expression | None" = None
    words: "EntryWords | None" = None
    limit: int = 100
    max_scan: int = 1_000_000
    max_bytes: int | None = None
    max_time: timedelta | None = None
    newest_first: bool = False
    page: int = PAGE_ENTRIES

    def matches(self, entry: Entry) -> bool:
        """Whether an entry meets every condition; raises ``SettingsError`` where the expression cannot say."""
        if any(pair not in entry.fields for pair in self.fields):
            return False
        if self.words is not None and not self.words.matches(entry):
            return False
        return self.where is None or self.where.matches(entry)


class SearchProgress(Struct, frozen=True):
    """How far a search is.

    Attributes:
        scanned: Entries looked at.
        matched: Matches among them.
        at: The last ID looked at.
    """

    scanned: int
    matched: int
    at: EntryId


class SearchResult(Struct, frozen=True):
    """What a search found.

    Attributes:
        entries: The matches, in the order they were met.
        scanned: Entries looked at.
        first_id: The first ID looked at; none where there was none.
        last_id: The last ID looked at; none where there was none.
        stopped: Why it ended.
        size: Bytes of the entries looked at.
    """

    entries: tuple[Entry, ...]
    scanned: int
    first_id: EntryId | None
    last_id: EntryId | None
    stopped: StopReason
    size: int = 0


class ReadPage(Protocol):
    """Reads entries of one stream between two IDs, both inclusive; a page of large entries may be short."""

    async def __call__(self, *, start: EntryId, end: EntryId, count: int, newest_first: bool) -> EntryPage:
        """Read one page; raises ``ServerError``."""


async def search_entries(
    read_page: ReadPage,
    query: Search,
    progress: Callable[[SearchProgress], None] | None = None,
) -> SearchResult:
    """Scan page by page until the end of the range, the limit or a budget; at least one page, whatever the budgets.

    Raises:
        SettingsError: The expression compares values that have no order.
        ServerError: A page could not be read.
    """
    found: list[Entry] = []
    scanned, size, first, last = 0, 0, None, None
    start, end = query.start, query.end
    began = monotonic()

    def result(stopped: StopReason) -> SearchResult:
        return SearchResult(tuple(found), scanned, first, last, stopped, size)

    while True:
        count = min(query.page, query.max_scan - scanned)
        page = await read_page(start=start, end=end, count=count, newest_first=query.newest_first)
        for entry in page.entries:
            scanned += 1
            size += entry.size
            first, last = first or entry.id, entry.id
            if query.matches(entry):
                found.append(entry)
                if len(found) >= query.limit:
                    return result(StopReason.LIMIT)
        if last is not None and progress is not None:
            progress(SearchProgress(scanned, len(found), last))
        rest = _rest(start, end, page, newest_first=query.newest_first)
        if rest is None:
            return result(StopReason.END)
        spent = _spent(query, scanned, size, timedelta(seconds=monotonic() - began))
        if spent is not None:
            return result(spent)
        start, end = rest


def _spent(query: Search, scanned: int, size: int, took: timedelta) -> StopReason | None:
    """The budget that is used up; none where none is."""
    if scanned >= query.max_scan:
        return StopReason.MAX_SCAN
    if query.max_bytes is not None and size >= query.max_bytes:
        return StopReason.MAX_BYTES
    return StopReason.MAX_TIME if query.max_time is not None and took >= query.max_time else None


def _rest(
    start: EntryId, end: EntryId, page: EntryPage, *, newest_first: bool
) -> tuple[EntryId, EntryId] | None:
    """The range after a page; none where nothing is left of it."""
    at = page.next_id
    if at is None or at == (start if newest_first else end):
        return None
    return (start, at.previous()) if newest_first else (at.next(), end)
