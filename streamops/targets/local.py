"""Workers under ``streamops run --workers auto``: their supervisors are asked through Redis, wherever they run."""

from collections.abc import Sequence
from datetime import datetime

from streamops.errors import StalePlan, TargetChanged, TargetError
from streamops.model.pools import KEDA, Order, Pool, PoolSize, PoolSupervisor
from streamops.wire.keys import pool_key
from streamops.wire.pools.records import order_workers, read_pool
from streamops.wire.pools.registry import read_supervisors
from streamops.wire.reads import read_clock
from streamops.wire.server import Server

UNDER = "/"
"""In a version between the number that was told and the term of who led then."""


class LocalTarget:
    """The supervisors of one pool, which share its workers among themselves.

    Args:
        server: The server that they listen to; it is not closed with the target.
        pool: The pool.
        by: Who asks, for the pool's record.
    """

    kind: str = "local"

    def __init__(self, server: Server, pool: str, by: str) -> None:
        self.label = f"streamops run --pool {pool} --workers auto"
        self._server = server
        self._pool = pool
        self._by = by

    async def read(self) -> PoolSize:
        """How many workers the supervisors were asked to have, and how many work.

        Raises:
            TargetError: There is no supervisor that could be told, and never was; or KEDA scales the pool.
        """
        now = await read_clock(self._server, pool_key(self._pool))
        pool = await read_pool(self._server, self._pool)
        return size_of(pool, await read_supervisors(self._server, self._pool), now)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - written once
        """Tell them another number, unless they were told one meanwhile; see ``Target.resize``."""
        told, _, term = expected.version.partition(UNDER)
        try:
            await order_workers(
                self._server,
                self._pool,
                Order(workers=int(told)) if told else None,
                workers,
                Order(workers=workers, by=self._by, reason=reason),
                term=int(term) if term else None,
            )
        except StalePlan:
            raise TargetChanged(
                f"pool {self._pool}: its worker count was changed since it was read, or its controller has changed",
                "Make a new plan.",
            ) from None

    async def close(self) -> None:
        """The server is not its own."""


def size_of(pool: Pool, supervisors: Sequence[PoolSupervisor], now: datetime | None) -> PoolSize:
    """How many workers supervisors were asked to have, and how many work.

    Its version holds on to the leader at that time: what it decided is not done once another one leads, nor when
    its lease has run out.

    Args:
        pool: The pool.
        supervisors: Its supervisors.
        now: The server's clock; None if it may not be asked.

    Raises:
        TargetError: There is no supervisor that could be told, and never was; or KEDA scales the pool.
    """
    order, lead = pool.order, pool.lead
    led = lead is not None and now is not None and lead.until > now
    if pool.target == KEDA and not supervisors and (led or order is None):
        raise TargetError(
            f"pool {pool.name}: KEDA scales its workers, to the count that `{pool.controller_command}` decides on",
            f"`streamops pools override {pool.name} N` fixes the worker count.",
        )
    if order is None and not supervisors:
        raise TargetError(
            f"pool {pool.name}: no supervisor follows the pool's worker count",
            f"Start one: streamops run MODULE:APP --pool {pool.name} --workers auto.",
        )
    told = "" if order is None else str(order.workers)
    return PoolSize(
        ordered=sum(one.aim for one in supervisors) if order is None else order.workers,
        ready=sum(one.ready for one in supervisors),
        version=f"{told}{UNDER}{lead.term}" if led and lead is not None else told,
    )
