"""What the servers ask: how many workers each pool should have. The control loop answers."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from msgspec import Struct


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
