"""The audit log: one capped stream of records as fields."""

from collections.abc import Mapping, Sequence
from typing import Final

from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, StreamEntry
from streamops.wire.faults import required
from streamops.wire.reads import read_page
from streamops.wire.server import Server

AUDIT: Final = "streamops:audit"
MAX_RECORDS: Final = 10_000
"""About this many records are kept."""
LARGEST_PAGE: Final = 25
PAGE_BYTES: Final = 1 << 20
"""Records and bytes, about, that are read at once."""


async def write_record(server: Server, fields: Mapping[str, bytes]) -> EntryId:
    """Add a record; its ID."""
    flat = [part.encode() if isinstance(part, str) else part for pair in fields.items() for part in pair]
    reply = await server.single(AUDIT, "XADD", AUDIT, "MAXLEN", "~", MAX_RECORDS, "*", *flat)
    return EntryId.parse(required(reply, AUDIT))


async def read_records(
    server: Server, *, start: EntryId = ZERO_ID, end: EntryId = LAST_ID, count: int, newest_first: bool
) -> tuple[StreamEntry, ...]:
    """Records between two IDs, both inclusive, some at a time: those that hold rows are large."""
    found: list[StreamEntry] = []
    size = LARGEST_PAGE
    while asked := min(size, count - len(found)):
        page = await read_page(server, AUDIT, start, end, asked, newest_first=newest_first, what=AUDIT)
        found += page
        if len(page) < asked or (page[-1].id <= start if newest_first else page[-1].id >= end):
            break
        start, end = (start, page[-1].id.previous()) if newest_first else (page[-1].id.next(), end)
        size = _fitting(page)
    return tuple(found)


def _fitting(page: Sequence[StreamEntry]) -> int:
    """How many records like these the server copies out in a millisecond or two."""
    weight = sum(len(value) for record in page for _, value in record.fields)
    return max(1, min(LARGEST_PAGE, PAGE_BYTES * len(page) // (weight + 1)))
