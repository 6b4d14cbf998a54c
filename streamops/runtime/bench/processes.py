"""Worker processes of a benchmark: the supervisor's, started and ended one by one as the benchmark wants it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from streamops.process.logs import LogFormat
from streamops.runtime.bench.place import POOL
from streamops.runtime.supervisor.orders import Failure, Orders
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.supervisor import CannotStart
from streamops.runtime.worker import WorkerOptions
from streamops.wire.options import ConnectionOptions

READY_IN: Final = 60.0
DRAINED_IN: Final = 10.0
SILENT: Final = 50
"""The highest level of ``logging``, which nothing here uses: a drill is made of failures, and tells of them itself."""

STREAM_VARIABLE: Final = "STREAMOPS_BENCH_STREAM"
"""The environment variable that tells worker processes which stream is theirs."""


class WorkerProcesses:
    """Some worker processes.

    Attributes:
        ids: The IDs of all that ever were ready.
    """

    def __init__(self, orders: Orders, environment: Mapping[str, str]) -> None:
        self.ids: set[str] = set()
        self._orders = orders
        self._environment = environment
        self._processes: list[WorkerProcess] = []
        self._killed: list[WorkerProcess] = []

    @property
    def at_work(self) -> list[WorkerProcess]:
        """Those that run, and are ready."""
        return [
            one
            for one in self._processes
            if one.ready.is_set() and not one.exited.is_set() and one not in self._killed
        ]

    async def start(self, count: int) -> None:
        """Start some more, and wait until they work.

        Raises:
            CannotStart: One of them cannot begin.
        """
        begun = [await self._start() for _ in range(count)]
        for process in begun:
            await _until_ready(process)
            self.ids.add(process.report.worker_id)

    def kill(self, count: int) -> int:
        """End some at once (SIGKILL), the eldest; how many."""
        chosen = self.at_work[:count]
        for process in chosen:
            process.kill()
        self._killed += chosen
        return len(chosen)

    async def end(self) -> None:
        """Drain all, and kill what does not drain in time."""
        for process in self._processes:
            process.drain()
        exits = [asyncio.create_task(process.wait()) for process in self._processes]
        if not exits:
            return
        await asyncio.wait(exits, timeout=DRAINED_IN)
        for process in self._processes:
            process.kill()
        await asyncio.gather(*exits)

    async def _start(self) -> WorkerProcess:
        process = await WorkerProcess.start(self._orders, self._environment)
        self._processes.append(process)
        return process


def bench_orders(
    app: str, options: ConnectionOptions, pool: str, *, concurrency: int, beat: timedelta
) -> Orders:
    """What a worker process of a benchmark is to do."""
    return Orders(
        app=app,
        worker=WorkerOptions(pool=pool, app="streamops bench", beat=beat, grace=timedelta(seconds=5)),
        connection=options,
        concurrency=concurrency,
        log_format=LogFormat.TEXT,
        log_level=SILENT,
    )


@asynccontextmanager
async def worker_processes(
    app: str, options: ConnectionOptions, stream: str, *, concurrency: int, beat: timedelta
) -> AsyncIterator[WorkerProcesses]:
    """Worker processes of an application, none at first; all have ended when the block has."""
    orders = bench_orders(app, options, POOL, concurrency=concurrency, beat=beat)
    processes = WorkerProcesses(orders, {STREAM_VARIABLE: stream})
    try:
        yield processes
    finally:
        await processes.end()


async def _until_ready(process: WorkerProcess) -> None:
    ready = asyncio.create_task(process.ready.wait())
    exited = asyncio.create_task(process.exited.wait())
    await asyncio.wait([ready, exited], timeout=READY_IN, return_when=asyncio.FIRST_COMPLETED)
    for task in (ready, exited):
        task.cancel()
    if process.exited.is_set() or not process.ready.is_set():
        failure = process.report.failure or Failure("a worker process cannot begin", "Run it again.", 1)
        raise CannotStart(failure)
