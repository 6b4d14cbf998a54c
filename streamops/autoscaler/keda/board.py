"""Where the loop posts what it decided, and the servers look and wait."""

import asyncio
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from streamops.autoscaler.keda.source import PoolView, Reading


class Board:
    """The newest view of every pool. For one event loop; implements ``Pools``.

    Args:
        pools: The streams that each pool's workers read, by the names of the pools.
    """

    def __init__(self, pools: Mapping[str, Iterable[Reading]]) -> None:
        self._views = {name: PoolView(reads=tuple(reads)) for name, reads in pools.items()}
        self._turning = {name: asyncio.Event() for name in pools}

    def names(self) -> tuple[str, ...]:
        """The pools."""
        return tuple(self._views)

    def view(self, pool: str) -> PoolView | None:
        """The newest view of a pool; none where there is no such pool."""
        return self._views.get(pool)

    def post(self, pool: str, view: PoolView) -> None:
        """Show a view to whoever looks, and wake who waits for it.

        A number once known is kept where the new view has none, and so are the moment and the pool's streams.

        Raises:
            KeyError: There is no such pool.
        """
        self._views[pool] = held(self._views[pool], view)
        turned, self._turning[pool] = self._turning[pool], asyncio.Event()
        turned.set()

    async def after(self, pool: str, seen: PoolView) -> PoolView:
        """A view that is another one than ``seen``; raises ``KeyError`` where there is no such pool."""
        while self._views[pool] == seen:
            await self._turning[pool].wait()
        return self._views[pool]


def held(before: PoolView, now: PoolView) -> PoolView:
    """The view now, with what it does not tell and the one before did."""
    return replace(
        now,
        desired=before.desired if now.desired is None else now.desired,
        looked=now.looked or before.looked,
        at=now.at or before.at,
        reads=now.reads or before.reads,
    )
