"""Pending entries profiled by rolling scans, a bounded number of rows a collection."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final

from streamops.model.entries import PendingEntry
from streamops.model.pending import PendingProfile
from streamops.model.readings import StreamReading
from streamops.monitor.pending_scan import PendingScan, advance_scan, gone_below, profile_of
from streamops.wire.deleted import look_for_deleted
from streamops.wire.faults import Fault
from streamops.wire.reads import PendingRange, read_pending
from streamops.wire.server import Server

GroupKey = tuple[str, str]

ROWS_PER_PAGE = 1_000
ROWS_PER_COLLECTION = 4_000


NONE_DELETED: Final[tuple[int, PendingEntry | None]] = (0, None)

UNTOLD: Final = 100
"""Rows of a page that are looked for on Redis 6.2, which does not tell up to where entries were deleted."""


class ProfileKeeper:
    """Scans every group's pending entries, the one not served for longest first.

    Args:
        server: Where they are.
        rows: So many rows in one collection at most.
    """

    def __init__(self, server: Server, rows: int = ROWS_PER_COLLECTION) -> None:
        self._server = server
        self._rows = rows
        self._scans: dict[GroupKey, PendingScan] = {}

    async def advance(self, streams: Sequence[StreamReading]) -> dict[GroupKey, PendingProfile]:
        """One more page for as many groups as the budget allows; the profiles of all groups scanned so far."""
        pending: dict[GroupKey, int] = {}
        for name, group in ((stream.name, group) for stream in streams for group in stream.groups):
            if group.pending:
                pending[name, group.name] = group.pending
            else:
                self._scans.pop((name, group.name), None)
        below = {stream.name: gone_below(stream) for stream in streams}
        pages = self._choose(pending)
        found = await read_pending(self._server, pages)
        deleted = await self._look_for_deleted({stream.name: stream for stream in streams}, pages, found)
        for page, rows in zip(pages, found, strict=True):
            key = page.stream, page.group
            scan = self._scans.pop(key, PendingScan())
            lacking = deleted.get(key, NONE_DELETED)
            # Back to the end of the line, refused ones too: the order of the dict is the order of turns.
            self._scans[key] = (
                scan
                if isinstance(rows, Fault)
                else advance_scan(
                    scan,
                    rows,
                    end=len(rows) < page.limit,
                    below=below[page.stream],
                    deleted=lacking[0],
                    first_deleted=lacking[1],
                )
            )
        return {
            key: profile
            for key, count in pending.items()
            if (known := self._scans.get(key)) and (profile := profile_of(known, count))
        }

    async def _look_for_deleted(
        self,
        streams: Mapping[str, StreamReading],
        pages: Sequence[PendingRange],
        found: Sequence[Sequence[PendingEntry] | Fault],
    ) -> dict[GroupKey, tuple[int, PendingEntry | None]]:
        """How many rows lack entries from where their stream begins, and the first of them; only where XDEL was used."""
        doubtful = {
            (page.stream, page.group): doubted
            for page, rows in zip(pages, found, strict=True)
            if not isinstance(rows, Fault) and (doubted := _doubtful(streams[page.stream], rows))
        }
        if not doubtful:
            return {}
        asked = [(key[0], [row.id for row in rows]) for key, rows in doubtful.items()]
        looks = await look_for_deleted(self._server, asked)
        return {
            key: (look.gone, None if look.first is None else rows[look.first])
            for (key, rows), look in zip(doubtful.items(), looks, strict=True)
        }

    def forget_all_but(self, groups: Collection[GroupKey], unread: Collection[str]) -> None:
        """Drop the scans of other groups, except of streams that could not be read."""
        self._scans = {key: scan for key, scan in self._scans.items() if key in groups or key[0] in unread}

    def _choose(self, pending: dict[GroupKey, int]) -> list[PendingRange]:
        new = (key for key in pending if key not in self._scans)
        pages, left = [], self._rows
        for stream, group in chain(new, (key for key in self._scans if key in pending)):
            rows = min(ROWS_PER_PAGE, pending[stream, group] + 1)
            if rows > left:
                break
            left -= rows
            scan = self._scans.get((stream, group))
            pages.append(PendingRange(stream, group, scan.cursor if scan else None, rows))
        return pages


def _doubtful(stream: StreamReading, rows: Sequence[PendingEntry]) -> list[PendingEntry]:
    """Rows whose entry may have been deleted from the midst of its stream: what was trimmed off is told by where it begins."""
    if stream.first_id is None:
        return []
    begun = [row for row in rows if row.id >= stream.first_id]
    deleted = stream.max_deleted_id
    return begun[:UNTOLD] if deleted is None else [row for row in begun if row.id <= deleted]
