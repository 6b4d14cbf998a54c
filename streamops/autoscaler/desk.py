"""A target that somebody else asks: the number lies here, and whoever scales takes it."""

from collections.abc import Awaitable, Callable

from streamops.errors import TargetChanged
from streamops.model.pools import Pool, PoolSize


class Desk:
    """Keeps the number of workers that a pool should have, for KEDA to take.

    How many there are KEDA does not tell; the roster of the pool does, where its workers are of this runtime.

    Args:
        read_pool: Reads the pool, whose last decision is where this begins.
        minimum: Where it begins when nothing was ever decided.
    """

    kind: str = "keda"
    label: str = "KEDA"

    def __init__(self, read_pool: Callable[[], Awaitable[Pool]], minimum: int) -> None:
        self._read_pool = read_pool
        self._minimum = minimum
        self._workers: int | None = None

    async def read(self) -> PoolSize:
        """The number that lies here; raises ``StreamopsError`` where it has to be read first and cannot."""
        if self._workers is None:
            last = (await self._read_pool()).last
            self._workers = self._minimum if last is None else last.target
        return PoolSize(ordered=self._workers)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - nobody to tell
        """Put another number there; raises ``TargetChanged`` where it is another one already."""
        if self._workers != expected.ordered:
            raise TargetChanged(f"the number is {self._workers} by now", "Look again.")
        self._workers = workers

    async def close(self) -> None:
        """Nothing is open."""
