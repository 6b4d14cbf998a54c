"""One collection: streams and groups become a snapshot, in a constant number of round trips a node.

The first reads streams, groups, oldest pending entries and the heads of queues; the second consumers and
a page of the rolling scans; the rest counts where a lag is left open, within a budget.
"""

import asyncio
import time
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial

from msgspec import Struct

from streamops.model.entries import EPOCH, id_age
from streamops.model.lag import Lag
from streamops.model.streams import (
    MILLISECOND,
    NO_SUCH_STREAM,
    ConsumerGroup,
    GroupReading,
    ReadError,
    Snapshot,
    StreamReading,
    StreamState,
)
from streamops.monitor.counting import CountBudget
from streamops.monitor.details import ROWS_PER_COLLECTION, DetailReader, Details
from streamops.monitor.lag import NOTHING_WAITS, reliability_of, time_lag
from streamops.monitor.lag_reader import GroupCache, GroupKey, LagReader
from streamops.monitor.watch import Watch
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.full_reader import FullReader
from streamops.wire.keys import stream_role
from streamops.wire.server import Server
from streamops.wire.stream_reader import Readings, StreamReader

DEEP_ROWS = 1_000
"""Pending entries that the rolling scans read in one of the exporter's collections, which come often."""

KNOWN_ROLES = 1 << 14
"""Streams whose roles are remembered."""

BREATH = 200
"""Streams assembled between two turns of the event loop, so that a screen stays responsive."""


class Clock(Struct, frozen=True):
    """When a stream was read, by its server's clock.

    Attributes:
        at: The instant; None if the clock may not be asked.
        milliseconds: The same in milliseconds since the epoch; zero if it may not.
    """

    at: datetime | None
    milliseconds: int


class Collector:
    """Collects snapshots of one server; what one collection learns makes the next one cheaper."""

    def __init__(self, server: Server, watch: Watch, budget: CountBudget | None = None) -> None:
        self._server = server
        self._watch = watch
        reader = StreamReader(server)
        self._full = FullReader(server, reader) if watch.deep else None
        self._reader = self._full or reader
        self._role = lru_cache(KNOWN_ROLES)(partial(stream_role, dead_letters=watch.dead_letters))
        self._cache = GroupCache()
        self._lags = LagReader(server, reader, self._cache, budget or CountBudget())
        self._details = DetailReader(server, self._cache, DEEP_ROWS if watch.deep else ROWS_PER_COLLECTION)

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
            expected: Names that were requested: a missing stream is a read error.

        Raises:
            ServerError: No node answers.
        """
        started, sent = time.monotonic(), self._server.commands_sent
        readings = await self._reader.read(names)
        at = readings.now or datetime.now(UTC)  # noqa: TID251 - a gap says that the clock is ours
        read = [reading for reading in readings.streams if isinstance(reading, StreamReading)]
        self._cache.invalidate(self._reader.servers.epoch)
        # What has to be asked is asked first: the rest is looked up while the server works.
        details, (whole, large) = await asyncio.gather(
            self._read_details(read, at), self._lags.read_next_entries(read)
        )
        if self._full is not None:
            for name in large:
                self._full.shun(name)
        clocks = _clocks(readings)
        lags, _ = await asyncio.gather(
            self._lags.read_lags(whole, reliability_of(readings.server.nodes)),
            self._details.read_heartbeats(whole, details),
        )
        streams = await self._assemble(whole, clocks, details, lags)
        if not partial:
            unread = {name for name, found in zip(names, readings.streams, strict=True) if _is_unread(found)}
            self._cache.keep_only(lags, unread)
            if self._full is not None:
                self._full.forget_all_but(names)
        return Snapshot(
            collected_at=at,
            server=readings.server,
            streams=streams,
            gaps=(*_gaps(names, readings, expected), *details.gaps),
            discovered=discovered,
            discovery_complete=complete,
            elapsed=timedelta(seconds=time.monotonic() - started),
            commands=self._server.commands_sent - sent,
            patterns=self._watch.streams,
        )

    async def _read_details(self, streams: Sequence[StreamReading], at: datetime) -> Details:
        return await self._details.read(streams, _milliseconds(at)) if self._watch.details else Details()

    async def _assemble(
        self,
        streams: Sequence[StreamReading],
        clocks: Sequence[Clock],
        details: Details,
        lags: dict[GroupKey, Lag],
    ) -> tuple[StreamState, ...]:
        states = []
        for number, (stream, now) in enumerate(zip(streams, clocks, strict=True)):
            if number % BREATH == 0:
                await asyncio.sleep(0)
            states.append(self._stream(stream, now, details, lags))
        return tuple(states)

    def _stream(
        self, reading: StreamReading, now: Clock, details: Details, lags: dict[GroupKey, Lag]
    ) -> StreamState:
        role, source = self._role(reading.name)
        return StreamState(
            reading.name,
            reading.length,
            reading.first_id,
            reading.last_id,
            reading.last_generated_id,
            reading.entries_added,
            reading.max_deleted_id,
            reading.entry_bytes,
            role,
            source,
            tuple([_group(reading, group, now, details, lags) for group in reading.groups]),
        )


def _is_unread(reading: StreamReading | Fault) -> bool:
    """Whether there may be a stream, although it could not be read."""
    return isinstance(reading, Fault) and reading.kind is not FaultKind.MISSING


def _gaps(names: Sequence[str], readings: Readings, expected: Collection[str]) -> Iterator[ReadError]:
    """What the first round trip could not read."""
    for address, reason in readings.failures.items():
        yield ReadError(reason, part=f"node {address}")
    if readings.info_fault is not None:
        yield ReadError(readings.info_fault.reason, part="server information")
    if readings.clock_fault is not None:
        yield ReadError(f"{readings.clock_fault.reason}, so that ages are not known", part="server clock")
    for name, reading in zip(names, readings.streams, strict=True):
        if isinstance(reading, StreamReading):
            if not reading.bounds_read:
                yield ReadError("no permission for XINFO STREAM", name, part="first and last entry")
        elif _is_unread(reading):
            yield ReadError(reading.reason, name, denied=reading.kind is FaultKind.DENIED)
        elif name in expected:
            # One that vanished between discovery and reading is no gap: there is nothing to see.
            yield ReadError(NO_SUCH_STREAM, name)


def _clocks(readings: Readings) -> list[Clock]:
    """When each of the streams that could be read was."""
    made: dict[datetime | None, Clock] = {}
    for at in {*readings.times, readings.now}:
        known = at or readings.now
        made[at] = Clock(known, 0 if known is None else _milliseconds(known))
    return [
        made[at]
        for reading, at in zip(readings.streams, readings.times, strict=True)
        if isinstance(reading, StreamReading)
    ]


def _milliseconds(at: datetime) -> int:
    """An instant in milliseconds since the epoch."""
    return (at - EPOCH) // MILLISECOND


def _group(
    stream: StreamReading, group: GroupReading, now: Clock, details: Details, lags: dict[GroupKey, Lag]
) -> ConsumerGroup:
    key = stream.name, group.name
    lag = lags[key]
    oldest = group.oldest_pending or details.oldest.get(key)
    return ConsumerGroup(
        group.name,
        group.consumers,
        group.pending,
        group.last_delivered_id,
        group.entries_read,
        group.reported_lag,
        lag,
        # If it was counted to the end, or the server says so, nothing waits.
        NOTHING_WAITS if lag.entries == 0 and lag.known else time_lag(stream, group, now.at),
        oldest,
        id_age(oldest.id, now.at) if oldest else None,
        details.members.get(key, group.members),
        details.profiles.get(key),
    )
