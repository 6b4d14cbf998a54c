"""A target that somebody else asks: the number lies here, and whoever scales takes it."""

from datetime import timedelta
from typing import Final

from streamops.autoscaling.assignment import Assignment
from streamops.autoscaling.pool_controller import last_known
from streamops.errors import TargetChanged
from streamops.model.pools import PoolSize
from streamops.monitor.pools import PoolReader

LOOKED_BACK: Final = 20
"""Decisions in which one about a pool that could be read is looked for."""
AT_WORK: Final = timedelta(minutes=5)
"""How lately a consumer must have asked for entries to be taken for a worker."""


class Desk:
    """Keeps the number of workers that a pool should have, for KEDA to take.

    How many there are KEDA does not tell. So this begins, at the first start as after any other, with what can be known
    of those that there are, and never with fewer for want of knowledge: KEDA would let them go.

    Args:
        pools: Reads the pool.
        assignment: It, and the group whose work it does.
    """

    kind: str = "keda"
    label: str = "KEDA"

    def __init__(self, pools: PoolReader, assignment: Assignment) -> None:
        self._pools = pools
        self._assignment = assignment
        self._workers: int | None = None

    async def read(self) -> PoolSize:
        """The number that lies here; raises ``StreamopsError`` where it has to be read first and cannot."""
        if self._workers is None:
            found = await self._found()
            self._workers = max(found, self._assignment.config.minimum)
        return PoolSize(ordered=self._workers)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - nobody to tell
        """Put another number there; raises ``TargetChanged`` where it is another one already."""
        if self._workers != expected.ordered:
            raise TargetChanged(f"the number is {self._workers} by now", "Look again.")
        self._workers = workers

    async def close(self) -> None:
        """Nothing is open."""

    async def _found(self) -> int:
        """The workers that there are: by the last decision, else by their beats, else by the group's consumers."""
        last = (await self._pools.one(self._assignment.pool)).last
        before = await self._pools.decisions(self._assignment.pool, LOOKED_BACK)
        read = next((one for one in (last, *before) if one is not None and one.was_read), None)
        if read is not None:
            return last_known(read)
        staff = await self._pools.staff(self._assignment.pool)
        if staff.workers:
            return len(staff.workers)
        return await self._pools.consumers(self._assignment.stream, self._assignment.group, AT_WORK)
