"""Worker processes, by their heartbeats, and their pools: what they were told, who decides about them and why, and who works in them."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import NotFound, StreamopsError, known_hint
from streamops.model.entries import EntryId
from streamops.model.pools import (
    KEDA,
    Pool,
    PoolDecision,
    PoolSize,
    PoolSupervisor,
    RegisteredWorker,
    WorkerHeartbeat,
    WorkerState,
)
from streamops.monitor.context import ServerContext
from streamops.monitor.counting import CountBudget, Counter
from streamops.monitor.discover import scan_node
from streamops.monitor.lag import RangeCount
from streamops.targets.local import LocalTarget, size_of
from streamops.wire.consuming.heartbeats import fetch_heartbeats
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.keys import POOLS, pool_key, worker_key
from streamops.wire.pools.leading import read_decisions
from streamops.wire.pools.records import forget_pool, read_named, read_pool, read_pool_names, read_pools
from streamops.wire.pools.registry import PoolRegistry, read_registered, read_registries, read_supervisors
from streamops.wire.reads import read_clock, read_consumers
from streamops.wire.stream_reader import Depth

AT_ONCE = 500
WORKERS: Final = worker_key("")
OF_BOTH: Final = "streamops:[pw]o*:*"
"""Keys of workers and of pools, so that one pass finds both."""


class ServerWorkers(Struct, frozen=True):
    """The workers of one server.

    Attributes:
        workers: Those that have a heartbeat, by pool and ID.
        now: The server's clock; None if it may not be asked.
        pools: Their pools, and those that were told something or have a controller; None if that was not read.
        unreadable: IDs of workers whose heartbeat is there and cannot be read.
    """

    workers: tuple[WorkerHeartbeat, ...]
    now: datetime | None
    pools: tuple[Pool, ...] = ()
    unreadable: tuple[str, ...] = ()


class WorkerReader:
    """Reads heartbeats on one server."""

    def __init__(self, place: ServerContext) -> None:
        self._place = place

    async def all(self, share: float = 1.0) -> ServerWorkers:
        """Every worker with a heartbeat. Goes through all keys: Redis has no list of them.

        Args:
            share: Share of the time that this may keep a node busy.

        Raises:
            ServerError: The keys cannot be gone through.
        """
        names, _ = await self._names(f"{WORKERS}*", share)
        return await self._read(names)

    async def with_pools(self, share: float = 1.0) -> ServerWorkers:
        """The same, with every pool that has workers or was told something."""
        workers, pools = await self._names(OF_BOTH, share)
        return await self._with_pools(await self._read(workers), pools)

    async def again(self, known: ServerWorkers) -> ServerWorkers:
        """Those of a crowd that still have a heartbeat, and their pools, without going through all keys.

        Raises:
            ServerError: They cannot be read.
        """
        crowd = await self._read((*(worker.id for worker in known.workers), *known.unreadable))
        return await self._with_pools(crowd, (pool.name for pool in known.pools))

    async def _names(self, pattern: str, share: float) -> tuple[Sequence[str], Sequence[str]]:
        server = self._place.server
        # A first request tells which nodes a cluster has.
        await read_clock(server, WORKERS)
        names: dict[str, None] = {}
        for node in server.nodes:
            async for page in scan_node(server, node, "hash", pattern, share=share):
                names |= dict.fromkeys(page)
        return _those_after(WORKERS, names), _those_after(pool_key(""), names)

    async def _read(self, workers: Iterable[str]) -> ServerWorkers:
        server, known = self._place.server, list(workers)
        now = await read_clock(server, WORKERS)
        hearts: list[WorkerHeartbeat] = []
        unreadable: list[str] = []
        for at in range(0, len(known), AT_ONCE):
            page = await fetch_heartbeats(server, known[at : at + AT_ONCE])
            hearts += page.hearts
            unreadable += page.unreadable
        ordered = sorted(hearts, key=lambda heart: (heart.pool, heart.id))
        return ServerWorkers(tuple(ordered), now, unreadable=tuple(sorted(unreadable)))

    async def _with_pools(self, crowd: ServerWorkers, pools: Iterable[str]) -> ServerWorkers:
        told = await read_pools(self._place.server, {*pools, *(heart.pool for heart in crowd.workers)})
        return replace(crowd, pools=tuple(told))


def _those_after(prefix: str, names: Iterable[str]) -> Sequence[str]:
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


SILENT: Final = timedelta(seconds=15)
"""After so long without a beat a worker is not counted as one that works."""
AT_WORK: Final = frozenset({WorkerState.RUNNING, WorkerState.STALLED, WorkerState.PAUSED})


class PoolWorkers(Struct, frozen=True):
    """Who works in a pool.

    Attributes:
        workers: The workers on its roster that have beaten of late and work.
        supervisors: The supervisors that do as the pool is told.
    """

    workers: tuple[RegisteredWorker, ...]
    supervisors: tuple[PoolSupervisor, ...]


NOBODY: Final = PoolWorkers((), ())


class PoolReader:
    """Reads pools on one server."""

    def __init__(self, place: ServerContext) -> None:
        self._place = place

    async def all(self, names: Iterable[str] = ()) -> list[Pool]:
        """Pools that have a controller or supervisors, and those that are named, by name; a spoilt one has a problem.

        Raises:
            StreamopsError: They cannot be read.
        """
        return await read_pools(self._place.server, names)

    async def names(self) -> list[str]:
        """Pools that have a controller or supervisors. Raises ``StreamopsError``."""
        return await read_pool_names(self._place.server)

    async def one(self, name: str) -> Pool:
        """A pool; with nothing but its name if nothing was ever set. Raises ``StreamopsError``."""
        return await read_pool(self._place.server, name)

    async def known(self, name: str) -> Pool:
        """A pool that has workers, was told something, or is configured; raises ``NotFound`` for any other name.

        All keys of the server are gone through for heartbeats, but only if nothing else tells of the pool.
        """
        pool = await self.one(name)
        if pool != Pool(name=name) or self._place.targets.has(name) or await self.of_pool(name) != NOBODY:
            return pool
        names = [one.name for one in (await WorkerReader(self._place).with_pools()).pools]
        if name not in names:
            raise NotFound(f"no pool {name}: it has no workers and is not configured", _hint(name, names))
        return pool

    async def some(self, names: Sequence[str]) -> list[Pool]:
        """These pools, in one round trip. Raises ``StreamopsError``."""
        return await read_named(self._place.server, names)

    async def decisions(self, name: str, count: int = 20) -> list[PoolDecision]:
        """The last decisions about a pool, newest first. Raises ``StreamopsError``."""
        return await read_decisions(self._place.server, name, count)

    async def of_pool(self, name: str, now: datetime | None = None) -> PoolWorkers:
        """Who works in a pool; the server's clock is read unless it is given. Raises ``StreamopsError``."""
        server = self._place.server
        roster = await read_registered(server, name)
        clock = now or await read_clock(server, POOLS)
        return _at_work(PoolRegistry(tuple(roster), await read_supervisors(server, name)), clock)

    async def of_pools(self, names: Sequence[str], now: datetime) -> list[PoolWorkers | StreamopsError]:
        """Who works in each of these pools, in one round trip; errors of single pools are among them.

        Raises:
            StreamopsError: No node answers.
        """
        crews = await read_registries(self._place.server, names, now)
        return [crew if isinstance(crew, StreamopsError) else _at_work(crew, now) for crew in crews]

    async def with_sizes(
        self, pools: Sequence[Pool], now: datetime | None
    ) -> list[tuple[Pool, PoolSize | None]]:
        """Pools with the workers that their supervisors have; None if something else runs them, or nothing says.

        Without the server's clock, by which it is known who is alive, none of them is told.

        Raises:
            StreamopsError: No node answers.
        """
        if now is None:
            return [(pool, None) for pool in pools]
        crews = await self.of_pools([pool.name for pool in pools], now)
        sized: list[tuple[Pool, PoolSize | None]] = []
        for pool, crew in zip(pools, crews, strict=True):
            size = None
            if not isinstance(crew, StreamopsError) and crew.supervisors:
                with suppress(StreamopsError):
                    size = self.local_size(pool, crew, now)
            sized.append((pool, size))
        return sized

    def local_size(self, pool: Pool, of_pool: PoolWorkers, now: datetime) -> PoolSize | None:
        """How many workers a pool's supervisors have; None if something else runs them, which has to be asked.

        Raises:
            SettingsError: What is configured makes no sense.
            TargetError: There is no supervisor, and never was.
        """
        target = self._place.targets.of(self._place.server, pool.name)
        return size_of(pool, of_pool.supervisors, now) if isinstance(target, LocalTarget) else None

    def is_kedas(self, pool: Pool) -> bool:
        """Whether KEDA scales a pool, and no target is configured that shows how many workers there are.

        Raises:
            SettingsError: What is configured makes no sense.
        """
        return pool.target == KEDA and isinstance(
            self._place.targets.of(self._place.server, pool.name), LocalTarget
        )

    async def size(self, name: str) -> PoolSize:
        """How many workers its target has; raises what ``Target.read`` raises."""
        return await self._place.targets.of(self._place.server, name).read()

    def target(self, name: str) -> str:
        """What runs its workers, in words; raises what ``Targets.of`` raises."""
        return self._place.targets.of(self._place.server, name).label

    async def consumers(self, stream: str, group: str, within: timedelta) -> int:
        """Consumers of a group that have asked for entries that lately; 0 if there is no such group.

        Raises:
            StreamopsError: They cannot be read.
        """
        (members,) = await read_consumers(self._place.server, [(stream, group)])
        if not isinstance(members, Fault):
            return sum(member.idle < within for member in members)
        if members.kind is FaultKind.MISSING:
            return 0
        raise members.error(f"consumers of group {group} of stream {stream}")

    async def count_between(self, stream: str, after: EntryId, until: EntryId, most: int) -> int | None:
        """Entries after an ID and up to another, or as many of them as may be counted; None if none may be."""
        span = RangeCount(stream, after, until, 0)
        budget = CountBudget(per_range=most, per_collection=most)
        await Counter(self._place.server, budget).count([span], Depth.SCRIPT)
        return None if span.failed and not span.counted else span.counted

    async def forget(self, name: str) -> None:
        """Remove all that is stored of a pool that no longer runs. Raises ``ServerError``."""
        await forget_pool(self._place.server, name)

    async def clock(self) -> datetime | None:
        """The server's clock; None if it may not be asked."""
        return await read_clock(self._place.server, POOLS)


def _hint(name: str, names: Sequence[str]) -> str:
    return known_hint(name, names, "pools") if names else "`streamops run --pool NAME` starts one."


def _at_work(crew: PoolRegistry, now: datetime | None) -> PoolWorkers:
    """Those of a crew that work, and have beaten of late as far as the clock shows."""
    workers = (one for one in crew.workers if one.state in AT_WORK)
    return PoolWorkers(
        tuple(one for one in workers if now is None or one.at > now - SILENT), crew.supervisors
    )
