"""One collection: streams and groups become a snapshot, in a constant number of round trips a node.

The first reads streams, groups, oldest pending entries and the heads of queues; the second consumers and
a page of the rolling scans; the rest counts where a lag is left open, within a budget.
"""

import asyncio
import time
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from streamops.analysis.lag import Faith, faith_in, id_age, time_lag
from streamops.errors import ServerError
from streamops.model.entries import PendingEntry
from streamops.model.lag import Lag
from streamops.model.pending import PendingProfile
from streamops.model.readings import GroupReading, StreamReading
from streamops.model.server import ServerInfo
from streamops.model.snapshot import NO_SUCH_STREAM, Gap, Snapshot
from streamops.model.streams import Consumer, ConsumerGroup, StreamState
from streamops.operate.heads import HeadKeeper
from streamops.operate.lags import GroupKey, LagKeeper
from streamops.operate.profiles import ROWS_PER_COLLECTION, ProfileKeeper
from streamops.operate.tallies import CountBudget
from streamops.operate.watch import Watch
from streamops.wire.consuming.hearts import WORKER_PREFIX, alive
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.full_reader import FullReader
from streamops.wire.keys import stream_role
from streamops.wire.reads import PendingRange, read_consumers, read_pending
from streamops.wire.server import Server
from streamops.wire.stream_reader import Readings, StreamReader

SCANNED_LEANLY = 1_000
"""Rows that the rolling scans take at most where whoever asks counts every one of the server's microseconds."""

MAX_CONSUMERS = 1_000
"""Groups with more consumers than this are shown without them: reading 10,000 blocks the server for a millisecond."""

MAX_HEARTS = 1_000
"""Silent workers that one collection asks after."""

HEART_SILENCE = timedelta(seconds=15)
"""Whoever has a heartbeat may be silent; who has been heard of since is alive without being asked after."""

BREATH = 200
"""Streams assembled between two turns of the event loop, so that a screen stays responsive."""


class Details:
    """What the second round trip brought, by group."""

    def __init__(self) -> None:
        self.members: dict[GroupKey, tuple[Consumer, ...]] = {}
        self.oldest: dict[GroupKey, PendingEntry] = {}
        self.profiles: dict[GroupKey, PendingProfile] = {}
        self.gaps: list[Gap] = []


class Collector:
    """Collects snapshots of one server; what one collection learns makes the next one cheaper."""

    def __init__(self, server: Server, watch: Watch, budget: CountBudget | None = None) -> None:
        self._server = server
        self._watch = watch
        reader = StreamReader(server)
        self._full = FullReader(server, reader) if watch.deep else None
        self._reader = self._full or reader
        self._heads = HeadKeeper(server)
        self._lags = LagKeeper(server, reader, budget or CountBudget())
        self._profiles = ProfileKeeper(server, SCANNED_LEANLY if watch.deep else ROWS_PER_COLLECTION)

    async def collect(
        self,
        names: Sequence[str],
        *,
        discovered: int,
        complete: bool,
        partial: bool = False,
        expected: Collection[str] = (),
    ) -> Snapshot:
        """A snapshot of these streams.

        Args:
            names: The streams, in the order wanted.
            discovered: How many streams discovery knows.
            complete: Whether discovery has seen the whole keyspace.
            partial: Whether other streams are watched too, so that what was learnt of them is kept.
            expected: Names that somebody asked for: where there is no such stream, a gap says so.

        Raises:
            ServerError: No node answers.
        """
        started, sent = time.monotonic(), self._server.commands_sent
        readings = await self._reader.read(names)
        read = [reading for reading in readings.streams if isinstance(reading, StreamReading)]
        (read, large), details = await asyncio.gather(self._heads.complete(read), self._details(read))
        if self._full is not None:
            for name in large:
                self._full.shun(name)
        lags, _ = await asyncio.gather(self._settle(read, readings.server), self._read_hearts(details))
        streams = await self._assemble(read, readings, details, lags)
        if not partial:
            unread = {name for name, found in zip(names, readings.streams, strict=True) if _is_unread(found)}
            self._lags.forget_all_but(lags, unread)
            self._profiles.forget_all_but(lags, unread)
            self._heads.forget_all_but(lags)
        return Snapshot(
            collected_at=readings.now or datetime.now(UTC),  # noqa: TID251 - a gap says that the clock is ours
            server=readings.server,
            streams=streams,
            gaps=(*_gaps(names, readings, expected), *details.gaps),
            discovered=discovered,
            discovery_complete=complete,
            elapsed=timedelta(seconds=time.monotonic() - started),
            commands=self._server.commands_sent - sent,
        )

    async def _details(self, streams: Sequence[StreamReading]) -> Details:
        """Consumers, rolling scans, and the oldest pending entries where the first reading had to leave them out."""
        details = Details()
        groups = [(stream.name, group) for stream in streams for group in stream.groups]
        if self._watch.details:
            await asyncio.gather(
                self._read_members(groups, details),
                self._read_oldest(groups, details),
                self._scan(groups, details),
            )
        return details

    async def _read_members(self, groups: Sequence[tuple[str, GroupReading]], details: Details) -> None:
        for stream, group in groups:
            if group.members is not None:
                details.members[stream, group.name] = group.members
        few = [
            (stream, group.name)
            for stream, group in groups
            if group.members is None and 0 < group.consumers <= MAX_CONSUMERS
        ]
        for key, members in zip(few, await read_consumers(self._server, few), strict=True):
            if isinstance(members, Fault):
                details.gaps.append(Gap(members.reason, *key, part="consumers"))
            else:
                details.members[key] = members
        for stream, group in groups:
            if group.consumers == 0:
                details.members[stream, group.name] = ()
            elif group.consumers > MAX_CONSUMERS:
                reason = (
                    f"{group.consumers:,} consumers, more than the {MAX_CONSUMERS:,} read in every collection"
                )
                details.gaps.append(Gap(reason, stream, group.name, "consumers", capped=True))

    async def _read_hearts(self, details: Details) -> None:
        """Which of our own workers are alive, of those that have been silent for longer than any heartbeat lives."""
        silent = {
            member.name
            for members in details.members.values()
            for member in members
            if member.pending and member.idle >= HEART_SILENCE and member.name.startswith(WORKER_PREFIX)
        }
        asked = sorted(silent)[:MAX_HEARTS]
        if not asked:
            return
        try:
            living = await alive(self._server, asked)
        except ServerError:
            # It may not be asked, and stays a suspicion.
            return
        known = {name: name in living for name in asked}
        for key, members in details.members.items():
            if any(member.name in known for member in members):
                details.members[key] = tuple(
                    replace(member, alive=known.get(member.name)) for member in members
                )

    async def _read_oldest(self, groups: Sequence[tuple[str, GroupReading]], details: Details) -> None:
        missing = [
            PendingRange(stream, group.name, None, 1)
            for stream, group in groups
            if group.pending and group.oldest_pending is None
        ]
        for page, rows in zip(missing, await read_pending(self._server, missing), strict=True):
            if isinstance(rows, Fault):
                details.gaps.append(Gap(rows.reason, page.stream, page.group, "pending entries"))
            elif rows:
                details.oldest[page.stream, page.group] = rows[0]

    async def _scan(self, groups: Sequence[tuple[str, GroupReading]], details: Details) -> None:
        details.profiles = await self._profiles.advance(groups)

    async def _settle(self, streams: Sequence[StreamReading], server: ServerInfo) -> dict[GroupKey, Lag]:
        # In a cluster of mixed versions the least trustworthy one speaks for all.
        faith = max((faith_in(node) for node in server.nodes), default=Faith.UPPER_BOUND)
        return await self._lags.settle([(stream, faith) for stream in streams])

    async def _assemble(
        self,
        streams: Sequence[StreamReading],
        readings: Readings,
        details: Details,
        lags: dict[GroupKey, Lag],
    ) -> tuple[StreamState, ...]:
        clocks = [
            now or readings.now
            for reading, now in zip(readings.streams, readings.times, strict=True)
            if isinstance(reading, StreamReading)
        ]
        states = []
        for number, (stream, now) in enumerate(zip(streams, clocks, strict=True)):
            if number % BREATH == 0:
                await asyncio.sleep(0)
            states.append(self._stream(stream, now, details, lags))
        return tuple(states)

    def _stream(
        self, reading: StreamReading, now: datetime | None, details: Details, lags: dict[GroupKey, Lag]
    ) -> StreamState:
        role, source = stream_role(reading.name, self._watch.dead_letters)
        return StreamState(
            name=reading.name,
            length=reading.length,
            first_id=reading.first_id,
            last_id=reading.last_id,
            last_generated_id=reading.last_generated_id,
            entries_added=reading.entries_added,
            max_deleted_id=reading.max_deleted_id,
            entry_bytes=reading.entry_bytes,
            role=role,
            source=source,
            groups=tuple(_group(reading, group, now, details, lags) for group in reading.groups),
        )


def _is_unread(reading: StreamReading | Fault) -> bool:
    """Whether there may be a stream, although it could not be read."""
    return isinstance(reading, Fault) and reading.kind is not FaultKind.MISSING


def _gaps(names: Sequence[str], readings: Readings, expected: Collection[str]) -> Iterator[Gap]:
    """What the first round trip could not read."""
    for address, reason in readings.failures.items():
        yield Gap(reason, part=f"node {address}")
    if readings.info_fault is not None:
        yield Gap(readings.info_fault.reason, part="server information")
    if readings.clock_fault is not None:
        yield Gap(f"{readings.clock_fault.reason}, so that ages are not known", part="server clock")
    for name, reading in zip(names, readings.streams, strict=True):
        if isinstance(reading, StreamReading):
            if not reading.bounds_read:
                yield Gap("no permission for XINFO STREAM", name, part="first and last entry")
        elif _is_unread(reading):
            yield Gap(reading.reason, name, denied=reading.kind is FaultKind.DENIED)
        elif name in expected:
            # One that vanished between discovery and reading is no gap: there is nothing to see.
            yield Gap(NO_SUCH_STREAM, name)


def _group(
    stream: StreamReading,
    group: GroupReading,
    now: datetime | None,
    details: Details,
    lags: dict[GroupKey, Lag],
) -> ConsumerGroup:
    key = stream.name, group.name
    if lags[key].known and lags[key].entries == 0 and not (group.head_read and group.head_id is None):
        # Counted to the end, or so the server says: there is nothing that waits.
        group = replace(group, head_id=None, head_read=True)
    oldest = group.oldest_pending or details.oldest.get(key)
    return ConsumerGroup(
        name=group.name,
        consumers=group.consumers,
        pending=group.pending,
        last_delivered_id=group.last_delivered_id,
        entries_read=group.entries_read,
        reported_lag=group.reported_lag,
        lag=lags[key],
        time_lag=time_lag(stream, group, now),
        oldest_pending=oldest,
        oldest_pending_age=id_age(oldest.id, now) if oldest else None,
        members=details.members.get(key),
        profile=details.profiles.get(key),
    )
