"""Undo snapshots: rows that a script keeps beside the stream, as they were before it changed them, until the audit log has them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.wire.faults import required
from streamops.wire.server import Server

KEPT: Final = timedelta(days=7)
"""Rows that nobody puts into the log are forgotten after so long."""

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
    """What a hash keeps, oldest first; nothing where it is not there."""
    reply = required(await server.single(key, "HGETALL", key), key)
    pages = [SnapshotPage(field, rows) for field, rows in zip(reply[::2], reply[1::2], strict=True)]
    return sorted(pages, key=lambda page: page.order)


async def drop_pages(server: Server, key: str, pages: Sequence[SnapshotPage]) -> None:
    """Forget pages; a hash without any is no more."""
    required(await server.single(key, "HDEL", key, *(page.field for page in pages)), key)
