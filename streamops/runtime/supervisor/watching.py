"""What a supervisor does beside keeping its processes: ends those that stall, tells systemd, buries orphans."""

import asyncio
from typing import Final

import structlog

from streamops.runtime.supervisor.orphans import reap_orphans
from streamops.runtime.supervisor.process_table import ProcessTable
from streamops.runtime.supervisor.spec import REPORT_EVERY
from streamops.runtime.supervisor.systemd import notify, watchdog_seconds

LOOK_EVERY: Final = 1.0
SOON: Final = 0.05
REAP_EVERY: Final = 1.0


async def end_stalled(staff: ProcessTable) -> None:
    """End who has not reported for too long: its event loop stands still, and it gave its entries up."""
    log = structlog.get_logger("streamops")
    longest = staff.spec.worker.hang.total_seconds() + 2 * REPORT_EVERY
    while True:
        await asyncio.sleep(LOOK_EVERY)
        for process in staff:
            process.listen(LOOK_EVERY)
            if process.silence > longest:
                log.error("worker stalled", pid=process.pid, silent_seconds=round(process.silence))
                process.kill()


async def tell_systemd(staff: ProcessTable) -> None:
    """Say when all work, and then that they still do."""
    while not staff.ready:  # noqa: ASYNC110 - many things make it so
        await asyncio.sleep(SOON)
    staff.was_ready = True
    workers = len(staff.places)
    structlog.get_logger("streamops").info("workers ready", workers=workers, app=staff.spec.app)
    notify("READY=1", f"STATUS={workers} workers")
    every = watchdog_seconds()
    while every:
        if staff.healthy:
            notify("WATCHDOG=1")
        await asyncio.sleep(every)


async def reap(staff: ProcessTable) -> None:
    """As process 1, bury what others orphaned; our own are waited for elsewhere."""
    while True:
        await asyncio.sleep(REAP_EVERY)
        # One that is being started has a number that we do not know yet.
        if not staff.starting:
            reap_orphans({process.pid for process in staff})
