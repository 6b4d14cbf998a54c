"""What a collection reads of groups beyond themselves: consumers, heartbeats, pending entries."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import Final

from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.model.entries import PendingEntry
from streamops.model.pending import PendingProfile
from streamops.model.streams import Consumer, GroupReading, ReadError, StreamReading, names_of
from streamops.monitor.lag_reader import GroupCache, GroupKey
from streamops.monitor.pending_scan import PendingScan, advance_scan, gone_below, profile_of
from streamops.wire.consuming.heartbeats import WORKER_PREFIX, alive
from streamops.wire.faults import Fault
from streamops.wire.pending import PendingRange, look_for_deleted, read_pending
from streamops.wire.reads import read_consumers
from streamops.wire.server import Server

MAX_CONSUMERS = 1_000
"""Groups with more consumers than this are shown without them: reading 10,000 blocks the server for a millisecond."""

MAX_HEARTBEATS = 1_000
"""Silent workers that one collection asks after."""

HEARTBEAT_SILENCE = timedelta(seconds=15)
"""A worker that was seen within this time is alive; for one that was not, its heartbeat is read."""

ROWS_PER_PAGE = 1_000
ROWS_PER_COLLECTION = 4_000
"""Pending entries that the rolling scans read of one group, and in one collection, at most."""

NONE_DELETED: Final[tuple[int, PendingEntry | None]] = (0, None)

LOOKED_UP: Final = 100
"""Rows of a page that are looked for on Redis 6.2, which does not report up to where entries were deleted."""


class Details:
    """What is known of groups beyond their readings.

    Attributes:
        members: Consumers, if they did not come with the group's reading, or more is known of them than that.
        oldest: The oldest pending entries that did not.
        profiles: Pending entries, profiled.
        gaps: What could not be read.
    """

    def __init__(self) -> None:
        self.members: dict[GroupKey, Sequence[Consumer]] = {}
        self.oldest: dict[GroupKey, PendingEntry] = {}
        self.profiles: dict[GroupKey, PendingProfile] = {}
        self.gaps: list[ReadError] = []


class DetailReader:
    """Reads details of the groups of one server.

    Args:
        server: The server.
        cache: Where scans of pending entries go on from.
        rows: So many pending entries are scanned in one collection at most.
    """

    def __init__(self, server: Server, cache: GroupCache, rows: int = ROWS_PER_COLLECTION) -> None:
        self._server = server
        self._cache = cache
        self._rows = rows
        self._collection = 0

    async def read(self, streams: Sequence[StreamReading], now: int) -> Details:
        """Consumers, rolling scans, and the oldest pending entries where the first reading had to leave them out.

        Args:
            streams: The streams.
            now: When they were read, in milliseconds since the epoch.
        """
        details = Details()
        groups = [(stream.name, group) for stream in streams for group in stream.groups]
        _, _, details.profiles = await asyncio.gather(
            self._read_members(groups, now, details),
            self._read_oldest(groups, details),
            self.scan_pending(streams),
        )
        return details

    async def read_heartbeats(self, streams: Sequence[StreamReading], details: Details) -> None:
        """Which of our own workers are alive, of those that have been silent for longer than any heartbeat lives.

        Args:
            streams: The streams.
            details: What is known of their groups, to be told more.
        """
        workers = dict(_workers(streams, details.members))
        silent = {
            member.name
            for members in workers.values()
            for member in members
            if member.pending and member.name.startswith(WORKER_PREFIX) and member.idle >= HEARTBEAT_SILENCE
        }
        asked = sorted(silent)[:MAX_HEARTBEATS]
        if not asked:
            return
        try:
            living = await alive(self._server, asked)
        except ServerError:
            # It may not be asked, and stays a suspicion.
            return
        known = {name: name in living for name in asked}
        for key, members in workers.items():
            if any(member.name in known for member in members):
                details.members[key] = tuple(
                    replace(member, alive=known.get(member.name)) for member in members
                )

    async def _read_members(
        self, groups: Sequence[tuple[str, GroupReading]], now: int, details: Details
    ) -> None:
        """The consumers of groups whose reading came without."""
        apart = []
        for stream, group in groups:
            if group.members is not None:
                continue
            key = stream, group.name
            if group.consumers == 0:
                details.members[key] = ()
            elif group.consumers > MAX_CONSUMERS:
                details.gaps.append(_too_many(stream, group))
            else:
                apart.append(key)
        for key, members in zip(apart, await read_consumers(self._server, apart, now), strict=True):
            if isinstance(members, Fault):
                details.gaps.append(ReadError(members.reason, *key, part="consumers"))
            else:
                details.members[key] = members

    async def _read_oldest(self, groups: Sequence[tuple[str, GroupReading]], details: Details) -> None:
        missing = [
            PendingRange(stream, group.name, None, 1)
            for stream, group in groups
            if group.pending and group.oldest_pending is None
        ]
        for page, rows in zip(missing, await read_pending(self._server, missing), strict=True):
            if isinstance(rows, Fault):
                details.gaps.append(ReadError(rows.reason, page.stream, page.group, "pending entries"))
            elif rows:
                details.oldest[page.stream, page.group] = rows[0]

    async def scan_pending(self, streams: Sequence[StreamReading]) -> dict[GroupKey, PendingProfile]:
        """One more page of the scans of as many groups as the budget allows; the profiles of all groups scanned so far."""
        self._collection += 1
        pending: dict[GroupKey, int] = {}
        for stream in streams:
            for group in stream.groups:
                key = stream.name, group.name
                if group.pending:
                    pending[key] = group.pending
                elif (cached := self._cache.groups.get(key)) is not None:
                    cached.scan, cached.scanned_in = None, 0
        pages = self._next_pages(pending)
        found = await read_pending(self._server, pages)
        by_name = {stream.name: stream for stream in streams}
        deleted = await self._look_for_deleted(by_name, pages, found)
        for page, rows in zip(pages, found, strict=True):
            cached = self._cache.of(page.stream, page.group)
            cached.scanned_in = self._collection
            if isinstance(rows, Fault):
                continue
            lacking, first = deleted.get((page.stream, page.group), NONE_DELETED)
            cached.scan = advance_scan(
                cached.scan or PendingScan(),
                rows,
                end=len(rows) < page.limit,
                below=gone_below(by_name[page.stream]),
                deleted=lacking,
                first_deleted=first,
            )
        return {
            key: profile
            for key, cached in self._cache.groups.items()
            if cached.scan and (count := pending.get(key)) and (profile := profile_of(cached.scan, count))
        }

    def _next_pages(self, pending: Mapping[GroupKey, int]) -> list[PendingRange]:
        """The next page of each group, the one that was not scanned for longest first, as far as the rows go."""
        cached = self._cache.groups
        scanned = {key: one.scanned_in for key, one in cached.items()}
        turns = sorted(pending, key=lambda key: scanned.get(key, 0))
        pages, left = [], self._rows
        for stream, group in turns:
            rows = min(ROWS_PER_PAGE, pending[stream, group] + 1)
            if rows > left:
                break
            left -= rows
            scan = cached[stream, group].scan if (stream, group) in cached else None
            pages.append(PendingRange(stream, group, scan.cursor if scan else None, rows))
        return pages

    async def _look_for_deleted(
        self,
        streams: Mapping[str, StreamReading],
        pages: Sequence[PendingRange],
        found: Sequence[Sequence[PendingEntry] | Fault],
    ) -> dict[GroupKey, tuple[int, PendingEntry | None]]:
        """How many rows lack entries from where their stream begins, and the first of them; only if XDEL was used."""
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
            key: (len(look.gone), rows[look.gone[0]] if look.gone else None)
            for (key, rows), look in zip(doubtful.items(), looks, strict=True)
        }


def _doubtful(stream: StreamReading, rows: Sequence[PendingEntry]) -> list[PendingEntry]:
    """Rows whose entry may have been deleted from the midst of its stream: what was trimmed off is told by where it begins."""
    if stream.first_id is None:
        return []
    begun = [row for row in rows if row.id >= stream.first_id]
    deleted = stream.max_deleted_id
    return begun[:LOOKED_UP] if deleted is None else [row for row in begun if row.id <= deleted]


def _workers(
    streams: Sequence[StreamReading], members: Mapping[GroupKey, Sequence[Consumer]]
) -> Iterator[tuple[GroupKey, Sequence[Consumer]]]:
    """The consumers of groups that workers of ours may belong to."""
    for key, some in members.items():
        if has_workers(names_of(some)):
            yield key, some
    read = [group.members for stream in streams for group in stream.groups if group.members is not None]
    # All names at once: there are thousands, and next to none of workers.
    if not has_workers(list(chain.from_iterable([some.sightings.names for some in read]))):
        return
    for stream in streams:
        for group in stream.groups:
            if group.members is not None and has_workers(group.members.sightings.names):
                yield (stream.name, group.name), group.members


def has_workers(names: Sequence[str]) -> bool:
    """Whether one of these consumers is a streamops worker, by the names that workers have unless they were given others."""
    return WORKER_PREFIX in "".join(names) and any(name.startswith(WORKER_PREFIX) for name in names)


def _too_many(stream: str, group: GroupReading) -> ReadError:
    reason = f"{group.consumers:,} consumers, more than the {MAX_CONSUMERS:,} read in every collection"
    return ReadError(reason, stream, group.name, "consumers", capped=True)
