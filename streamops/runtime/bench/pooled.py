"""Worker processes of a drill whose number somebody else decides: a supervisor's, which does as its pool is told."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from streamops.errors import StreamopsError
from streamops.runtime.bench.drill import APP, BEAT
from streamops.runtime.bench.processes import STREAM_VARIABLE, bench_orders
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.supervisor import Supervisor
from streamops.wire.options import ConnectionOptions

SOON: Final = 0.05


class PooledWorkers:
    """The workers of a pool, as a drill sees them: it may kill some, and the supervisor replaces them.

    Attributes:
        ids: The IDs of all that ever were ready.
    """

    def __init__(self, supervisor: Supervisor) -> None:
        self.ids: set[str] = set()
        self._supervisor = supervisor

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Those that run, and are ready."""
        working = self._supervisor.at_work
        self.ids |= {one.report.worker_id for one in working}
        return working

    async def start(self, count: int) -> None:  # noqa: ARG002 - others decide how many
        """Wait for the first one."""
        while not self.at_work:  # noqa: ASYNC110 - a process far away makes it so
            await asyncio.sleep(SOON)

    def kill(self, count: int) -> int:
        """End some at once (SIGKILL), the eldest; how many."""
        chosen = self.at_work[:count]
        for process in chosen:
            process.kill()
        return len(chosen)


@asynccontextmanager
async def pooled_workers(
    options: ConnectionOptions, pool: str, stream: str, *, slots: int, begin: int
) -> AsyncIterator[PooledWorkers]:
    """The workers of a pool that handle the events of a drill; all have ended when the block has.

    Args:
        options: The server.
        pool: The pool.
        stream: The events.
        slots: What a worker handles at once.
        begin: Workers before anybody has said how many.
    """
    orders = bench_orders(APP, options, pool, concurrency=slots, beat=BEAT)
    supervisor = Supervisor(orders, None, unless_told=begin, environment={STREAM_VARIABLE: stream})
    keeping = asyncio.create_task(supervisor.keep())
    workers = PooledWorkers(supervisor)
    try:
        starting = asyncio.create_task(workers.start(begin))
        await asyncio.wait([starting, keeping], return_when=asyncio.FIRST_COMPLETED)
        starting.cancel()
        if keeping.done():
            await keeping
        yield workers
    finally:
        supervisor.stop()
        with suppress(StreamopsError):
            await keeping
