"""Worker processes of a drill: a supervisor's, as many as it is told, or as their pool is told by a controller."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

from streamops.errors import StreamopsError
from streamops.model.drill import DrillPlan
from streamops.runtime.drill.keys import DrillKeys
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.spec import WorkerSpec
from streamops.runtime.supervisor.supervisor import Supervisor
from streamops.runtime.worker import WorkerOptions
from streamops.service.processes import LogFormat
from streamops.wire.options import ConnectionOptions

APP: Final = "streamops.runtime.drill.app:app"
TAG_VARIABLE: Final = "STREAMOPS_DRILL_TAG"
"""The environment variable that tells worker processes which keys are theirs."""
SILENT: Final = 50
"""The highest level of ``logging``, which nothing here uses: a drill is made of failures, and shows them itself."""
HEARTBEAT: Final = timedelta(seconds=1)
GRACE: Final = timedelta(seconds=5)
SOON: Final = 0.05
Control = Callable[[DrillKeys], Coroutine[Any, Any, None]]
"""A controller of the drill's pool, until it is cancelled."""


class DrillWorkers:
    """The workers, as a drill sees them: it may kill some, and the supervisor replaces them."""

    def __init__(self, supervisor: Supervisor, keys: DrillKeys) -> None:
        self._supervisor = supervisor
        self._keys = keys

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Those that run, and are ready."""
        working = self._supervisor.processes.at_work
        self._keys.workers |= {one.report.worker_id for one in working}
        return working

    async def wait_for(self, count: int) -> None:
        """Wait until this many work."""
        while len(self.at_work) < count:  # noqa: ASYNC110 - processes far away make it so
            await asyncio.sleep(SOON)

    def kill_half(self) -> int:
        """End half of them at once (SIGKILL), the eldest; how many."""
        working = self.at_work
        chosen = working[: max(1, len(working) // 2)]
        for process in chosen:
            process.kill()
        return len(chosen)


@asynccontextmanager
async def drill_workers(
    options: ConnectionOptions, keys: DrillKeys, plan: DrillPlan, control: Control | None
) -> AsyncIterator[DrillWorkers]:
    """Workers that handle the events of a drill; all have ended when the block has.

    Args:
        options: The server.
        keys: The events.
        plan: How many workers, and what each handles at once.
        control: Decides how many there are; none for as many as the plan says.

    Raises:
        CannotStart: No worker can begin.
    """
    orders = WorkerSpec(
        app=APP,
        worker=WorkerOptions(pool=keys.pool, app="streamops drill", beat=HEARTBEAT, grace=GRACE),
        connection=options,
        concurrency=plan.slots,
        log_format=LogFormat.TEXT,
        log_level=SILENT,
    )
    count = plan.minimum if control is None else None
    supervisor = Supervisor(orders, count, unless_told=plan.minimum, environment={TAG_VARIABLE: keys.tag})
    workers = DrillWorkers(supervisor, keys)
    keeping = asyncio.create_task(supervisor.keep())
    tasks = [asyncio.create_task(workers.wait_for(plan.minimum))]
    try:
        await asyncio.wait([*tasks, keeping], return_when=asyncio.FIRST_COMPLETED)
        if keeping.done():
            await keeping
        if control is not None:
            tasks.append(asyncio.create_task(control(keys)))
        yield workers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        supervisor.stop()
        with suppress(StreamopsError):
            await keeping
