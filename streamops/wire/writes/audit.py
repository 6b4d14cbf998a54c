"""The audit log: one capped stream of records as fields."""

from collections.abc import Mapping
from typing import Final

from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.wire.faults import Fault, fault
from streamops.wire.reads import read_page
from streamops.wire.server import Server

AUDIT: Final = "streamops:audit"
MAX_RECORDS: Final = 10_000
"""About so many records are kept."""


async def write_record(server: Server, fields: Mapping[str, bytes]) -> EntryId | Fault:
    """Add a record; its ID."""
    flat = [part.encode() if isinstance(part, str) else part for pair in fields.items() for part in pair]
    reply = await server.single(AUDIT, "XADD", AUDIT, "MAXLEN", "~", MAX_RECORDS, "*", *flat)
    return fault(reply) if isinstance(reply, Exception) else EntryId.parse(reply)


async def read_records(
    server: Server, *, start: EntryId = ZERO_ID, end: EntryId = LAST_ID, count: int, newest_first: bool
) -> tuple[Entry, ...] | Fault:
    """Records between two IDs, both inclusive."""
    return await read_page(server, AUDIT, start, end, count, newest_first=newest_first)
