"""Worker processes, by their heartbeats, and what their pools were told."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.pools import Pool
from streamops.model.workers import WorkerHeartbeat
from streamops.monitor.context import Place
from streamops.monitor.discover import scan_node
from streamops.wire.consuming.hearts import read_hearts
from streamops.wire.keys import pool_key, worker_key
from streamops.wire.pools.records import read_pools
from streamops.wire.reads import read_clock

AT_ONCE = 500
WORKERS: Final = worker_key("")
POOLS: Final = pool_key("")
OF_BOTH: Final = "streamops:[pw]o*:*"
"""Keys of workers and of pools, so that one pass finds both."""


class Crowd(Struct, frozen=True):
    """The workers of one server.

    Attributes:
        workers: Those that have a heartbeat, by pool and ID.
        now: The server's clock; none where it may not be asked.
        pools: Their pools, and those that were told something or have a controller; none where that was not read.
        unreadable: IDs of workers whose heartbeat is there and cannot be read.
    """

    workers: tuple[WorkerHeartbeat, ...]
    now: datetime | None
    pools: tuple[Pool, ...] = ()
    unreadable: tuple[str, ...] = ()


class WorkerReader:
    """Reads heartbeats on one server."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def all(self, share: float = 1.0) -> Crowd:
        """Every worker with a heartbeat. Goes through all keys: Redis has no list of them.

        Args:
            share: Share of the time that this may keep a node busy.

        Raises:
            ServerError: The keys cannot be gone through.
        """
        names, _ = await self._names(f"{WORKERS}*", share)
        return await self._read(names)

    async def with_pools(self, share: float = 1.0) -> Crowd:
        """The same, with every pool that has workers or was told something."""
        workers, pools = await self._names(OF_BOTH, share)
        return await self._with_pools(await self._read(workers), pools)

    async def again(self, known: Crowd) -> Crowd:
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
        return _those_after(WORKERS, names), _those_after(POOLS, names)

    async def _read(self, workers: Iterable[str]) -> Crowd:
        server, known = self._place.server, list(workers)
        now = await read_clock(server, WORKERS)
        hearts: list[WorkerHeartbeat] = []
        unreadable: list[str] = []
        for at in range(0, len(known), AT_ONCE):
            page = await read_hearts(server, known[at : at + AT_ONCE])
            hearts += page.hearts
            unreadable += page.unreadable
        ordered = sorted(hearts, key=lambda heart: (heart.pool, heart.id))
        return Crowd(tuple(ordered), now, unreadable=tuple(sorted(unreadable)))

    async def _with_pools(self, crowd: Crowd, pools: Iterable[str]) -> Crowd:
        told = await read_pools(self._place.server, {*pools, *(heart.pool for heart in crowd.workers)})
        return replace(crowd, pools=tuple(told))


def _those_after(prefix: str, names: Iterable[str]) -> Sequence[str]:
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
