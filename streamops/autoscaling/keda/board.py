"""Where the control loop posts how many workers each pool should have, and the servers look and wait."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.pools import PoolDecision, Signals
from streamops.model.scaling import ScaleCode


class Reading(Struct, frozen=True, gc=False):
    """A stream that a pool's workers read.

    Attributes:
        stream: Its name.
        group: The consumer group they are of.
    """

    stream: str
    group: str


class PoolView(Struct, frozen=True, kw_only=True):
    """What is known about one pool.

    Attributes:
        desired: Workers that it should have; none where that was never known.
        active: Whether entries wait, are pending or arrive; none where that is not known now.
        lag_known: Whether the lag is known now.
        looked: Whether the pool was looked at once, whatever came of it.
        at: When it was last read, by the server's clock; none where it never was.
        reason: Why it should have that many workers, or why nothing is known, in a sentence.
        reads: The streams that its workers read; empty where they are not told.
    """

    desired: int | None = None
    active: bool | None = None
    lag_known: bool = False
    looked: bool = False
    at: datetime | None = None
    reason: str = "it has not been looked at yet"
    reads: tuple[Reading, ...] = ()


class Pools(Protocol):
    """Views of all pools; which ones there are does not change."""

    def names(self) -> Collection[str]:
        """The pools, in the order in which people should see them; known before anything else is."""
        ...

    def view(self, pool: str) -> PoolView | None:
        """The newest view of a pool; none where there is no such pool."""
        ...

    async def after(self, pool: str, seen: PoolView) -> PoolView:
        """A view that is another one than ``seen``, as soon as there is one: at once, where there is one already."""
        ...


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


UNSEEN: Final = "the last round brought no decision: Redis is away, or nobody leads the pool"


def post_round(board: Board, decisions: Mapping[str, PoolDecision]) -> None:
    """Show what one round came to.

    Args:
        board: Where to.
        decisions: The newest decision about each pool, whoever made it. A pool that is missing keeps its number, and its
            lag is not known any more.
    """
    for pool in board.names():
        decision = decisions.get(pool)
        board.post(pool, PoolView(looked=True, reason=UNSEEN) if decision is None else view_of(decision))


def view_of(decision: PoolDecision) -> PoolView:
    """What a decision tells of its pool.

    A decision about a pool that could not be read has a number too, for want of another one. It is none to tell KEDA,
    who would take it for what the pool needs; and a first look at a pool that has no workers knows no number yet.
    """
    signals = decision.signals
    if decision.code is ScaleCode.UNREADABLE:
        return PoolView(looked=True, reason=decision.text)
    unsure = decision.code is ScaleCode.WARMUP and not decision.ordered
    return PoolView(
        desired=None if unsure else decision.target,
        active=_is_active(signals),
        lag_known=signals.lag is not None,
        looked=True,
        at=decision.at,
        reason=decision.text,
    )


def _is_active(signals: Signals) -> bool | None:
    """Whether entries wait, are pending or arrive; none where an unknown lag is all that could tell."""
    if any((signals.lag, signals.at_least, signals.pending, signals.arrivals)):
        return True
    return None if signals.lag is None else False
