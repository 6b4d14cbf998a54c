"""How many workers a target has: asked without waiting for long, and less often where it fails."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from streamops.autoscaling.backoff import Backoff
from streamops.errors import SettingsError, StreamopsError, TargetError
from streamops.model.pools import Pool, PoolSize
from streamops.monitor.pools import PoolReader, Staff

LONGEST_PAUSE: Final = 60.0


class Supply:
    """Asks one pool's target how many workers it has.

    Args:
        pools: Reads it.
        pool: The pool.
        clock: Seconds, ever rising.

    Attributes:
        label: What the target is, in words; empty before it is known.
    """

    def __init__(self, pools: PoolReader, pool: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._pools = pools
        self._pool = pool
        self._backoff = Backoff(LONGEST_PAUSE, clock)
        self._reading: asyncio.Task[PoolSize] | None = None
        self.label = ""

    async def read(self, pool: Pool, staff: Staff, now: datetime, patience: float) -> PoolSize:
        """The number; where the answer takes longer than ``patience``, in seconds, a later call gives it.

        Args:
            pool: The pool as just read.
            staff: Its supervisors, as just read, which tell it where they run its workers.
            now: The server's clock.
            patience: Seconds to wait for another target.

        Raises:
            StreamopsError: It fails, has failed before and is left alone for a while, or has not answered yet.
        """
        if self._backoff.rests:
            raise TargetError(self._backoff.problem, "It is asked again, less and less often.")
        try:
            self.label = self._pools.target(self._pool)
            local = self._pools.local_size(pool, staff, now)
        except SettingsError as error:
            # Finding that out may have taken a program of the user's.
            self._backoff.fail(error.message)
            self.label = f"unusable: {error.message}"
            raise
        return await self._asked(patience) if local is None else local

    async def _asked(self, patience: float) -> PoolSize:
        if self._reading is None:
            self._reading = asyncio.create_task(self._pools.size(self._pool))
        await asyncio.wait({self._reading}, timeout=patience)
        if not self._reading.done():
            raise TargetError(
                f"pool {self._pool}: its target has not told yet how many workers it has",
                "Its answer is waited for.",
            )
        reading, self._reading = self._reading, None
        try:
            size = reading.result()
        except StreamopsError as error:
            self._backoff.fail(error.message, error)
            raise
        self._backoff.succeed()
        return size

    async def drop(self) -> None:
        """Wait no more."""
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            await asyncio.wait({reading})
