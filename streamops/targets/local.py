"""Workers under ``streamops run --workers auto``: their supervisors are asked through Redis, wherever they run."""

from streamops.errors import StalePlan, TargetChanged, TargetError
from streamops.model.pools import Order, PoolSize
from streamops.wire.pools.orders import order_workers
from streamops.wire.pools.records import read_pool
from streamops.wire.pools.roster import read_supervisors
from streamops.wire.server import Server


class LocalTarget:
    """The supervisors of one pool, which share its workers among themselves.

    Args:
        server: The server that they listen to; it is not closed with the target.
        pool: The pool.
        by: Who asks, for whoever looks.
    """

    kind: str = "local"

    def __init__(self, server: Server, pool: str, by: str) -> None:
        self.label = f"streamops run --pool {pool} --workers auto"
        self._server = server
        self._pool = pool
        self._by = by

    async def read(self) -> PoolSize:
        """How many workers the supervisors were told to have, and how many work.

        Raises:
            TargetError: There is no supervisor that could be told, and never was.
        """
        order = (await read_pool(self._server, self._pool)).order
        supervisors = await read_supervisors(self._server, self._pool)
        if order is None and not supervisors:
            raise TargetError(
                f"pool {self._pool}: no supervisor runs as many workers as it is told",
                f"Start one: streamops run MODULE:APP --pool {self._pool} --workers auto.",
            )
        return PoolSize(
            ordered=sum(one.aim for one in supervisors) if order is None else order.workers,
            ready=sum(one.ready for one in supervisors),
            version="" if order is None else str(order.workers),
        )

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - written once
        """Tell them another number, unless they were told one meanwhile; see ``Target.resize``."""
        known = Order(workers=int(expected.version)) if expected.version else None
        try:
            await order_workers(
                self._server, self._pool, known, workers, Order(workers=workers, by=self._by, reason=reason)
            )
        except StalePlan:
            raise TargetChanged(
                f"pool {self._pool}: it was told another number of workers meanwhile", "Look again."
            ) from None

    async def close(self) -> None:
        """The server is not its own."""
