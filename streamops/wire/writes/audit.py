"""The audit log, one capped stream of records; and undo snapshots, rows that scripts keep as they were before a change."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from msgspec import Struct

from streamops.model.entries import EPOCH, LAST_ID, ZERO_ID, EntryId, PendingEntry, StreamEntry
from streamops.model.pending import PendingChange
from streamops.wire.faults import required
from streamops.wire.node import Argument
from streamops.wire.reads import read_page
from streamops.wire.script_calls import Call, optional, write_script
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


KEPT: Final = timedelta(days=7)
"""Rows that are not put into the log are forgotten after this long."""

SECONDS_KEPT: Final = int(KEPT.total_seconds())


class SnapshotPage(Struct, frozen=True):
    """Rows of one call of a script.

    Attributes:
        field: The field of the hash that keeps them: the server's clock in milliseconds, ``/``, and the first ID.
        rows: The rows, as the script packed them.
    """

    field: bytes
    rows: bytes

    @property
    def order(self) -> tuple[int, EntryId]:
        """Pages compare by it as they were written."""
        at_ms, _, first = self.field.partition(b"/")
        return int(at_ms), EntryId.parse(first)


async def read_snapshot(server: Server, key: str) -> list[SnapshotPage]:
    """What a hash keeps, oldest first; nothing if it is not there."""
    reply = required(await server.single(key, "HGETALL", key), key)
    pages = [SnapshotPage(field, rows) for field, rows in zip(reply[::2], reply[1::2], strict=True)]
    return sorted(pages, key=lambda page: page.order)


async def drop_pages(server: Server, key: str, pages: Sequence[SnapshotPage]) -> None:
    """Forget pages; a hash without any is no more."""
    required(await server.single(key, "HDEL", key, *(page.field for page in pages)), key)


ROWS = 250
"""Rows of one call: about 3 ms of the server's time."""


async def restore_rows(
    server: Server,
    stream: str,
    group: str,
    rows: Sequence[PendingEntry],
    *,
    done: PendingChange,
    holder: str,
    at: datetime,
    position: EntryId | None,
    writes: bool,
) -> list[str]:
    """Restore owner, time of delivery and deliveries of rows.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        rows: The rows as they were, at most ``ROWS`` of them.
        done: What was done to them.
        holder: Who claimed them, if they were claimed.
        at: When it was done; a row delivered since is left alone.
        position: The group must not stand before it; none asks for the group alone.
        writes: Whether to restore them, or only to say what would come of it.

    Returns:
        What came of each: ``restored``, or why not.
    """
    arguments: list[Argument] = [group, optional(position), done.value, holder]
    arguments += (_ms(at), "write" if writes else "look")
    for (owner, idle, deliveries), alike in groupby(rows, _what_it_gets):
        ids = [str(row.id) for row in alike]
        arguments += (owner, max(0, _ms(at - idle)), deliveries, len(ids), *ids)
    call = Call(stream, tuple(arguments), lambda came: [one.decode() for one in came])
    return await write_script(server, "restore_rows", call, f"group {stream}/{group}")


def _what_it_gets(row: PendingEntry) -> tuple[str, timedelta, int]:
    return row.consumer, row.idle, row.delivery_count


def _ms(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(milliseconds=1)
