"""What the reads on demand return: pages of entries, of pending entries, of a search, and the newest entries of a stream."""

from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct

from streamops.model.entries import Entry, PendingEntry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.wire.faults import Fault
from streamops.wire.reads import read_page
from streamops.wire.server import Server


class EntryPage(Struct, frozen=True):
    """Entries of a stream in one direction.

    Attributes:
        entries: The entries, in the order asked for.
        next_id: Where to go on, exclusive; none at the end.
    """

    entries: tuple[Entry, ...]
    next_id: EntryId | None


class PendingPage(Struct, frozen=True):
    """Rows of a pending entries list, by ID.

    Attributes:
        rows: The rows, lowest ID first.
        next_id: Where to go on, exclusive; none at the end.
        now: The server's clock when they were read; none where it may not be asked.
    """

    rows: tuple[PendingEntry, ...]
    next_id: EntryId | None
    now: datetime | None


class PendingSummary(Struct, frozen=True):
    """XPENDING's summary of one group.

    Attributes:
        pending: All pending entries.
        smallest_id: Smallest pending ID; none where none is pending.
        greatest_id: Greatest pending ID; none where none is pending.
        consumers: Pending entries by consumer, only consumers that have some.
    """

    pending: int
    smallest_id: EntryId | None
    greatest_id: EntryId | None
    consumers: tuple[tuple[str, int], ...]


FIRST: Final = 4
MOST_BYTES: Final = 4 << 20
"""Entries that are read first, and bytes that are read in all unless another bound is given; one page may go beyond."""


class Newest(NamedTuple):
    """Entries, the newest first.

    Attributes:
        entries: The entries.
        more: Whether there may be others before them.
    """

    entries: tuple[Entry, ...]
    more: bool


async def read_newest(
    server: Server,
    stream: str,
    count: int,
    *,
    first: EntryId = ZERO_ID,
    last: EntryId = LAST_ID,
    most_bytes: int | None = None,
) -> Newest | Fault:
    """Entries between two IDs, both inclusive, the newest first; fewer than ``count`` where they are large.

    Raises:
        ServerError: The node fails.
    """
    room = MOST_BYTES if most_bytes is None else most_bytes
    entries: list[Entry] = []
    weight, size = 0, min(count, FIRST)
    while True:
        page = await read_page(server, stream, first, last, size, newest_first=True)
        if isinstance(page, Fault):
            return page
        entries += page
        weight += sum(entry.size for entry in page)
        if len(page) < size or page[-1].id <= first:
            return Newest(tuple(entries), more=False)
        if len(entries) >= count or weight >= room:
            return Newest(tuple(entries), more=True)
        last = page[-1].id.previous()
        # The entries seen tell how many more fit into what is left.
        size = max(1, min(count - len(entries), (room - weight) * len(entries) // max(1, weight)))
