"""Looking for entries: a scan with a limit, which says how far it got and why it stopped."""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.operate.pages import EntryPage

if TYPE_CHECKING:
    # Only searches with an expression pay for the library behind it.
    from streamops.analysis.expressions import Expression

PAGE_ENTRIES: Final = 1_000


class StopReason(StrEnum):
    """Why a search ended."""

    END = "end"
    LIMIT = "limit"
    MAX_SCAN = "max_scan"


class Search(Struct, frozen=True):
    """What to look for, and where to stop.

    Attributes:
        start: The first ID to look at, inclusive.
        end: The last ID to look at, inclusive.
        fields: Name and value pairs that an entry must all have, byte for byte.
        where: An expression that must hold; none for no further condition.
        limit: Stop after this many matches.
        max_scan: Stop after this many entries looked at.
        newest_first: Go from the end to the start.
    """

    start: EntryId = ZERO_ID
    end: EntryId = LAST_ID
    fields: tuple[tuple[bytes, bytes], ...] = ()
    where: "Expression | None" = None
    limit: int = 100
    max_scan: int = 1_000_000
    newest_first: bool = False

    def matches(self, entry: Entry) -> bool:
        """Whether an entry meets every condition; raises ``SettingsError`` where the expression cannot say."""
        if any(pair not in entry.fields for pair in self.fields):
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
    """

    entries: tuple[Entry, ...]
    scanned: int
    first_id: EntryId | None
    last_id: EntryId | None
    stopped: StopReason


class ReadPage(Protocol):
    """Reads entries of one stream between two IDs, both inclusive; a page of large entries may be short."""

    async def __call__(self, *, start: EntryId, end: EntryId, count: int, newest_first: bool) -> EntryPage:
        """Read one page; raises ``ServerError``."""


async def search_entries(
    read_page: ReadPage,
    query: Search,
    progress: Callable[[SearchProgress], None] | None = None,
) -> SearchResult:
    """Scan page by page until the end of the range, the limit or the budget.

    Raises:
        SettingsError: The expression compares values that have no order.
        ServerError: A page could not be read.
    """
    found: list[Entry] = []
    scanned, first, last = 0, None, None
    start, end = query.start, query.end
    while True:
        count = min(PAGE_ENTRIES, query.max_scan - scanned)
        page = await read_page(start=start, end=end, count=count, newest_first=query.newest_first)
        for entry in page.entries:
            scanned += 1
            first, last = first or entry.id, entry.id
            if query.matches(entry):
                found.append(entry)
                if len(found) >= query.limit:
                    return SearchResult(tuple(found), scanned, first, last, StopReason.LIMIT)
        if last is not None and progress is not None:
            progress(SearchProgress(scanned, len(found), last))
        rest = _rest(start, end, page, newest_first=query.newest_first)
        if rest is None:
            return SearchResult(tuple(found), scanned, first, last, StopReason.END)
        if scanned >= query.max_scan:
            return SearchResult(tuple(found), scanned, first, last, StopReason.MAX_SCAN)
        start, end = rest


def _rest(
    start: EntryId, end: EntryId, page: EntryPage, *, newest_first: bool
) -> tuple[EntryId, EntryId] | None:
    """The range after a page; none where nothing is left of it."""
    at = page.next_id
    if at is None or at == (start if newest_first else end):
        return None
    return (start, at.previous()) if newest_first else (at.next(), end)
