"""The newest entries of a stream, bounded in number and in bytes."""

from typing import Final, NamedTuple

from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.wire.reads import read_page
from streamops.wire.server import Server

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
    what: str = "",
) -> Newest:
    """Entries between two IDs, both inclusive, the newest first; fewer than ``count`` where they are large.

    Raises:
        ServerError: They cannot be read; said of ``what``, or of the stream.
    """
    room = MOST_BYTES if most_bytes is None else most_bytes
    entries: list[Entry] = []
    weight, size = 0, min(count, FIRST)
    while True:
        page = await read_page(server, stream, first, last, size, newest_first=True, what=what)
        entries += page
        weight += sum(entry.size for entry in page)
        if len(page) < size or page[-1].id <= first:
            return Newest(tuple(entries), more=False)
        if len(entries) >= count or weight >= room:
            return Newest(tuple(entries), more=True)
        last = page[-1].id.previous()
        # The entries seen tell how many more fit into what is left.
        size = max(1, min(count - len(entries), (room - weight) * len(entries) // max(1, weight)))
