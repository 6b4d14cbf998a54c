"""Pools of workers: what they were told, who decides about them and why, and who works in them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.model.pools import Pool, PoolDecision, PoolSize, PoolSupervisor, RosterWorker
from streamops.model.workers import WorkerState
from streamops.operate.acting.place import Place
from streamops.operate.tallies import CountBudget, Counter, Span
from streamops.wire.keys import POOLS
from streamops.wire.pools.leading import read_decisions
from streamops.wire.pools.records import forget_pool, read_pool, read_pools
from streamops.wire.pools.roster import read_roster, read_supervisors
from streamops.wire.reads import read_clock
from streamops.wire.stream_reader import Depth

SILENT: Final = timedelta(seconds=15)
"""After so long without a beat a worker is not counted as one that works."""
AT_WORK: Final = frozenset({WorkerState.RUNNING, WorkerState.STALLED, WorkerState.PAUSED})


class Staff(Struct, frozen=True):
    """Who works in a pool.

    Attributes:
        workers: The workers on its roster that have beaten of late and work.
        supervisors: The supervisors that do as the pool is told.
    """

    workers: tuple[RosterWorker, ...]
    supervisors: tuple[PoolSupervisor, ...]


class PoolReader:
    """Reads pools on one server."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def all(self, names: Iterable[str] = ()) -> list[Pool]:
        """Pools that have a controller or supervisors, and those that are named, by name.

        Raises:
            StreamopsError: They cannot be read.
        """
        return await read_pools(self._place.server, names)

    async def one(self, name: str) -> Pool:
        """A pool; with nothing but its name where nobody ever told it anything. Raises ``StreamopsError``."""
        return await read_pool(self._place.server, name)

    async def decisions(self, name: str, count: int = 20) -> list[PoolDecision]:
        """The last decisions about a pool, newest first. Raises ``StreamopsError``."""
        return await read_decisions(self._place.server, name, count)

    async def staff(self, name: str, now: datetime | None = None) -> Staff:
        """Who works in a pool; the server's clock is read unless it is given. Raises ``StreamopsError``."""
        server = self._place.server
        roster = await read_roster(server, name)
        clock = now or await read_clock(server, POOLS)
        workers = (worker for worker in roster if worker.state in AT_WORK)
        return Staff(
            tuple(worker for worker in workers if clock is None or worker.at > clock - SILENT),
            await read_supervisors(server, name),
        )

    async def size(self, name: str) -> PoolSize:
        """How many workers its target has; raises what ``Target.read`` raises."""
        return await self._place.targets.of(self._place.server, name).read()

    def target(self, name: str) -> str:
        """What runs its workers, in words; raises what ``Targets.of`` raises."""
        return self._place.targets.of(self._place.server, name).label

    async def count_added(self, stream: str, after: EntryId, until: EntryId, most: int) -> int | None:
        """Entries after an ID and up to another; none where they are more than ``most``, or cannot be counted."""
        span = Span(stream, after, until, 0)
        budget = CountBudget(per_range=most, per_collection=most)
        await Counter(self._place.server, budget).count([span], Depth.SCRIPT)
        return span.counted if span.complete else None

    async def forget(self, name: str) -> None:
        """Remove all that is known of a pool that nobody runs any more. Raises ``ServerError``."""
        await forget_pool(self._place.server, name)

    async def clock(self) -> datetime | None:
        """The server's clock; none where it may not be asked."""
        return await read_clock(self._place.server, POOLS)
