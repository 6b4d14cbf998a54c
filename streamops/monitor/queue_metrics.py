"""What is read beside snapshots: delayed messages at every scrape, the rest at its own pace.

Four lanes look for queues, measure memory, look for heartbeats and read pools. Each stays out of the way, and keeps what it
had while the server does not answer.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from streamops.errors import NotFound, Refused, ServerError, StreamopsError
from streamops.model.observation import QueueCount, QueueMetrics
from streamops.model.pools import Pool, WorkerHeartbeat
from streamops.model.retention import RetentionCandidate, RetentionPolicy, policy_of
from streamops.model.streams import StreamRole
from streamops.monitor.context import ServerContext
from streamops.monitor.delayed import DelayedReader
from streamops.monitor.discover import REST, SHARE, Discovery
from streamops.monitor.pools import PoolReader, WorkerReader
from streamops.wire.delayed import count_queues
from streamops.wire.faults import Fault
from streamops.wire.keys import stream_role
from streamops.wire.reads import read_memory, read_paused
from streamops.wire.writes.audit import AUDIT

AT_ONCE: Final = 8
"""Streams measured by one request."""

PAUSE: Final = 0.05
"""Seconds between two requests at least."""

MEMORY_REST: Final = 15.0
"""Seconds between two passes over the memory of streams."""


WORKERS_REST: Final = 15.0
"""Seconds between two looks for heartbeats."""

POOLS_REST: Final = 5.0
"""Seconds between two readings of the pools: as often as a controller decides."""

DELAYED, MEMORY, WORKERS, POOLS = "delayed", "memory", "workers", "pools"


class QueueMetricsReader:
    """Reads what stands beside the streams of one server.

    Attributes:
        problems: What goes wrong at present, in words, by lane: ``delayed``, ``memory``, ``workers``, ``pools``.
        failures: How often each lane has failed so far.
    """

    def __init__(
        self, place: ServerContext, discovery: Discovery, policies: Sequence[RetentionPolicy] = ()
    ) -> None:
        self._place = place
        self._discovery = discovery
        self._policies = policies
        self._delayed = DelayedReader(place)
        self._workers = WorkerReader(place)
        self._pool_reader = PoolReader(place)
        self._sizes: Mapping[str, int] = {}
        self._unmeasurable = ""
        self._found: frozenset[str] = frozenset()
        self._hearts: tuple[WorkerHeartbeat, ...] = ()
        self._paused: Mapping[str, bool] = {}
        self._pools: tuple[Pool, ...] = ()
        self._pools_at: datetime | None = None
        self._lengths: tuple[list[str], Mapping[str, int]] = ([], {})
        self.problems: dict[str, str] = {}
        self.failures: dict[str, int] = {}

    async def read(self, now: datetime) -> QueueMetrics:
        """What is known now; only queues of delayed messages are read for it, in one round trip.

        Args:
            now: The server's clock.
        """
        queues: tuple[QueueCount, ...] = ()
        try:
            queues = await self._queues(now)
        except ServerError as error:
            self._fail(DELAYED, error.message)
        return QueueMetrics(
            queues,
            self._sizes,
            self._hearts,
            self._paused,
            self._max_lengths(),
            tuple(self.problems),
            self._pools,
            self._pools_at,
        )

    async def run(self) -> None:
        """Keep the lanes going until cancelled."""
        await asyncio.gather(
            self._lane(DELAYED, self.find_queues, REST),
            self._lane(MEMORY, self.measure, MEMORY_REST),
            self._lane(WORKERS, self.find_workers, WORKERS_REST),
            self._lane(POOLS, self.read_pools, POOLS_REST),
        )

    async def find_queues(self) -> None:
        """Look for queues once among all keys, unless all streams that are wanted were named.

        Raises:
            ServerError: The keys cannot be gone through.
        """
        found = {self._delayed.queue_of(name) for name in self._discovery.pinned}
        if self._discovery.is_open:
            await self._discovery.find_queues(share=SHARE)
            found |= {self._delayed.queue_of(name) for name in self._discovery.queues}
        self._found = frozenset(found)

    async def measure(self) -> None:
        """Measure every stream once; raises ``ServerError`` if no node answers."""
        names, before = self._discovery.names, self._unmeasurable
        known = set(names)
        self._sizes = {name: size for name, size in self._sizes.items() if name in known}
        # Permissions change.
        self._unmeasurable = ""
        for at in range(0, len(names), AT_ONCE):
            started = time.monotonic()
            await self._measure(names[at : at + AT_ONCE])
            if self._unmeasurable:
                break
            await asyncio.sleep(max(PAUSE, (time.monotonic() - started) * (1 / SHARE - 1)))
        # Asked again at each pass, and reported once.
        if self._unmeasurable and not before:
            self._fail(MEMORY, self._unmeasurable)

    async def _measure(self, names: Sequence[str]) -> None:
        sizes = dict(self._sizes)
        for name, size in zip(names, await read_memory(self._place.server, names), strict=True):
            if isinstance(size, Fault):
                # A key that is denied, or on its way to another node, says nothing of the others.
                self._unmeasurable = size.reason if size.denies_command else self._unmeasurable
            elif size is None:
                sizes.pop(name, None)
            else:
                sizes[name] = size
        self._sizes = {} if self._unmeasurable else sizes

    async def find_workers(self) -> None:
        """Look for heartbeats once; raises ``ServerError`` if the keys cannot be gone through."""
        crowd = await self._workers.all(SHARE)
        self._hearts = crowd.workers
        self._paused = await read_paused(self._place.server, sorted({heart.pool for heart in self._hearts}))

    async def read_pools(self) -> None:
        """Read what every pool with a controller was told and decided; raises ``StreamopsError``, the rest being kept."""
        # The clock first: a lead is taken for lost too late rather than too early.
        now = await self._pool_reader.clock()
        try:
            found = tuple(await self._pool_reader.all())
        except Refused:
            # As with heartbeats: whose user may not see keys of ours watches none of ours.
            found = ()
        self._pools, self._pools_at = tuple(pool for pool in found if not pool.problem), now
        for pool in found:
            if pool.problem:
                raise NotFound(pool.problem, "Delete that key, or give it back its name.")

    async def _lane(self, name: str, step: Callable[[], Awaitable[None]], rest: float) -> None:
        while True:
            try:
                await step()
            except StreamopsError as error:
                self._fail(name, error.message)
            else:
                if not self._unmeasurable or name != MEMORY:
                    self.problems.pop(name, None)
            await asyncio.sleep(rest)

    async def _queues(self, now: datetime) -> tuple[QueueCount, ...]:
        """Those that hold anything, that were found when they were last looked for, or that the configuration names."""
        configured = set(self._place.delayed.values())
        names = sorted(self._found | configured)
        if not names:
            return ()
        counts = await count_queues(self._place.server, names, now)
        if unread := [one for one in counts if isinstance(one, Fault)]:
            self._fail(DELAYED, unread[0].reason)
        return tuple(one for one in counts if isinstance(one, QueueCount))

    def _max_lengths(self) -> Mapping[str, int]:
        if not self._policies:
            return {}
        names = self._discovery.names
        if names != self._lengths[0]:
            self._lengths = names, max_lengths(self._policies, names, self._place.dead_letters)
        return self._lengths[1]

    def _fail(self, lane: str, problem: str) -> None:
        self.problems[lane] = problem
        self.failures[lane] = self.failures.get(lane, 0) + 1


def max_lengths(
    policies: Sequence[RetentionPolicy], streams: Sequence[str], dead_letters: Mapping[str, str]
) -> dict[str, int]:
    """How many entries the policies keep of each stream; streams of which none says so are missing."""
    candidates = [
        RetentionCandidate(name, stream_role(name, dead_letters)[0] is not StreamRole.EVENTS or name == AUDIT)
        for name in streams
    ]
    covered = ((candidate.name, policy_of(policies, candidate)) for candidate in candidates)
    return {name: policy.maxlen for name, policy in covered if policy and policy.maxlen is not None}
