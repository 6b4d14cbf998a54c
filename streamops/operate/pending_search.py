"""Looking for pending entries: pages by ID, filtered here, because XPENDING's own IDLE filter scans the whole list."""

from datetime import datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.operate.pages import PendingPage

PAGE_ROWS: Final = 1_000


class PendingSearch(Struct, frozen=True):
    """Which pending entries to look for, and where to stop.

    Attributes:
        after: Begin after this ID; none for the oldest.
        consumer: Only entries that this consumer owns; none for all.
        min_idle: Only entries that were not delivered for so long.
        min_deliveries: Only entries that were delivered so often.
        limit: Stop after this many matches.
        max_scan: Stop after this many rows looked at.
    """

    after: EntryId | None = None
    consumer: str | None = None
    min_idle: timedelta = timedelta(0)
    min_deliveries: int = 0
    limit: int = 100
    max_scan: int = 100_000

    @property
    def filters(self) -> bool:
        """Whether some rows may not match."""
        return bool(self.min_idle) or self.min_deliveries > 0

    def matches(self, entry: PendingEntry) -> bool:
        """Whether an entry is one that is looked for."""
        return entry.idle >= self.min_idle and entry.delivery_count >= self.min_deliveries


class PendingFound(Struct, frozen=True):
    """What was found.

    Attributes:
        rows: The matches, lowest ID first.
        scanned: Rows looked at.
        next_id: Where to go on, exclusive; none at the end.
        now: The server's clock when the last page was read; none where it may not be asked.
    """

    rows: tuple[PendingEntry, ...]
    scanned: int
    next_id: EntryId | None
    now: datetime | None


class ReadPending(Protocol):
    """Reads a page of one group's pending entries."""

    async def __call__(self, *, after: EntryId | None, count: int, consumer: str | None) -> PendingPage:
        """Read the page after an ID; raises ``ServerError``."""


async def search_pending(read_page: ReadPending, query: PendingSearch) -> PendingFound:
    """Page through a pending entries list until its end, the limit or the budget; raises ``ServerError``."""
    found: list[PendingEntry] = []
    scanned, after = 0, query.after
    while True:
        left = query.max_scan - scanned if query.filters else query.limit - len(found)
        page = await read_page(after=after, count=min(PAGE_ROWS, left), consumer=query.consumer)
        for entry in page.rows:
            scanned, after = scanned + 1, entry.id
            if query.matches(entry):
                found.append(entry)
                if len(found) >= query.limit:
                    break
        at_end = page.next_id is None and (not page.rows or after == page.rows[-1].id)
        if at_end or len(found) >= query.limit or scanned >= query.max_scan:
            return PendingFound(tuple(found), scanned, None if at_end else after, page.now)
