"""The parent of worker processes: starts, watches, restarts, reloads and drains them.

It imports nothing of the application: what a handler leaks or breaks ends with its process, and a reload gets the
code that is there now.
"""

import asyncio
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import structlog

from streamops.errors import ExitCode, StreamopsError
from streamops.model.workers import WorkerState
from streamops.runtime.figures import HandlerFigures, at_rest, total
from streamops.runtime.supervisor.orders import REPORT_EVERY, Failure, Orders, grace_of
from streamops.runtime.supervisor.orphans import bury_orphans
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.systemd import notify, reloading, watchdog_seconds

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
"""Seconds before a process that fell is replaced: doubled with each fall in a row."""
STEADY: Final = 30.0
"""Seconds after which a process has not fallen in a row with those before."""
HOPELESS: Final = 8
"""Falls in a row, in every place, after which nothing is tried any more."""
READY_IN: Final = 60.0
SILENT: Final = 10.0
"""Seconds without a report after which a process is not healthy."""
LOOK_EVERY: Final = 1.0
REAP_EVERY: Final = 1.0


class CannotStart(StreamopsError):
    """No worker process can begin: what the first one said."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, failure.hint)
        self.exit_code = ExitCode(failure.exit_code)


class _Place:
    """Where one worker process is to run.

    Attributes:
        current: The process there; none between two.
        successor: The process that takes over when that has ended, from its start on; none where there is no reload.
        falls: How many fell in a row.
        hurry: Set where a pause between two processes is to end.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.current: WorkerProcess | None = None
        self.successor: WorkerProcess | None = None
        self.falls = 0
        self.hurry = asyncio.Event()


class Supervisor:
    """Keeps worker processes running.

    Args:
        orders: What each of them is to do.
        workers: How many.
    """

    def __init__(self, orders: Orders, workers: int) -> None:
        self._orders = orders
        self._places = [_Place(number) for number in range(workers)]
        self._retired: tuple[HandlerFigures, ...] = ()
        self._ending = asyncio.Event()
        self._forced = asyncio.Event()
        self._reload = asyncio.Event()
        self._failure: Failure | None = None
        self._hopeless = False
        self._was_ready = False
        self._out_of_time = False
        self._starting = 0
        self._log = structlog.get_logger("streamops")

    @property
    def figures(self) -> tuple[HandlerFigures, ...]:
        """What all processes did, those included that have ended."""
        return total(
            [*self._retired, *(one for process in self._processes() for one in process.report.figures)]
        )

    @property
    def ready(self) -> bool:
        """Whether a process works in every place."""
        return all(
            place.current is not None
            and place.current.ready.is_set()
            and place.current.report.state in (WorkerState.RUNNING, WorkerState.PAUSED)
            for place in self._places
        )

    @property
    def healthy(self) -> bool:
        """Whether all processes have reported of late, and not every one has fallen."""
        processes = list(self._processes())
        return bool(processes) and all(one.silence <= SILENT for one in processes)

    async def run(self) -> ExitCode:
        """Keep them running until told to stop; what the program should end with.

        SIGTERM and SIGINT drain, a second one ends everything at once; SIGHUP replaces one process after another.

        Raises:
            CannotStart: The first process could not begin: no such application, no permission, and so on.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._told_to_stop)
        loop.add_signal_handler(signal.SIGHUP, self._reload.set)
        helpers = [asyncio.create_task(work) for work in self._helpers()]
        try:
            # A reload under way sees to it that nobody whom it started is forgotten.
            await asyncio.gather(*(self._keep(place) for place in self._places), self._reload_when_told())
        finally:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                loop.remove_signal_handler(number)
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
        if self._failure is not None:
            raise CannotStart(self._failure)
        if self._hopeless:
            return ExitCode.FAILED
        return ExitCode.INTERRUPTED if self._forced.is_set() else ExitCode.DONE

    def stop(self) -> None:
        """Drain all processes and end."""
        self._told_to_stop()

    def _helpers(self) -> Iterable[Any]:
        yield self._end()
        yield self._replace_stalled()
        yield self._tell_systemd()
        if os.getpid() == 1:
            yield self._reap()

    def _told_to_stop(self) -> None:
        if self._ending.is_set():
            self._forced.set()
            return
        self._log.info("draining", grace_seconds=self._orders.worker.grace.total_seconds())
        self._begin_end()

    def _begin_end(self) -> None:
        self._ending.set()
        self._reload.set()
        for place in self._places:
            place.hurry.set()

    async def _keep(self, place: _Place) -> None:
        """Have a process in a place, for as long as there is to be one."""
        while place.successor is not None or not self._ending.is_set():
            process = place.current = await self._next(place)
            if process is None:
                await self._pause(place, self._fallen(place))
                continue
            code = await process.wait()
            self._retire(process)
            place.current = None
            if not process.told and not self._ending.is_set():
                await self._after(place, process, code)

    async def _next(self, place: _Place) -> WorkerProcess | None:
        """Who is to be there: the successor where there is one, else a fresh one; none where none can be started."""
        process = None if place.successor is not None else await self._start()
        if process is None:
            process, place.successor = place.successor, None
        return process

    async def _start(self) -> WorkerProcess | None:
        """Start a process; none where the system starts none."""
        self._starting += 1
        try:
            process = await WorkerProcess.start(self._orders)
        except OSError as error:
            self._log.error("worker cannot be started", why=str(error))
            return None
        finally:
            self._starting -= 1
        if self._out_of_time:
            process.kill()
        elif self._ending.is_set():
            # It was being started when the others were told.
            process.drain()
        return process

    async def _after(self, place: _Place, process: WorkerProcess, code: int) -> None:
        """A process ended that was not told to."""
        failure, recycled = process.report.failure, process.report.recycled
        if failure is not None and not self._was_ready and not process.ready.is_set():
            self._failure = self._failure or failure
            self._begin_end()
            return
        idle = not any(one.handled for one in process.report.figures)
        if recycled is not None and code == 0 and not idle:
            self._log.info("worker recycled", pid=process.pid, reason=recycled.value)
            place.falls = 0
            return
        if process.lived > STEADY:
            place.falls = 0
        pause = self._fallen(place)
        if recycled is not None and code == 0:
            how = f"recycled before it did anything: {recycled.value}"
        else:
            how = failure.message if failure else _how(code)
        self._log.error(
            "worker fell",
            pid=process.pid,
            how=how,
            worker_id=process.report.worker_id,
            restart_in_seconds=pause,
        )
        await self._pause(place, pause)

    def _fallen(self, place: _Place) -> float:
        """Count a fall; how long to pause after it."""
        place.falls += 1
        return pause_after(place.falls)

    async def _pause(self, place: _Place, seconds: float) -> None:
        """Wait before a process is started anew, unless there is no sense in it, or another is there already."""
        if all(each.falls >= HOPELESS for each in self._places):
            self._log.error("every worker keeps falling", falls=HOPELESS)
            self._hopeless = True
            self._begin_end()
        if place.successor is None and not self._ending.is_set():
            place.hurry.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await place.hurry.wait()

    async def _end(self) -> None:
        """Once told to stop: drain, then end what has not drained in time, or at once where told again."""
        await self._ending.wait()
        notify("STOPPING=1")
        for process in self._processes():
            process.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_of(self._orders).total_seconds()):
                await self._forced.wait()
        self._out_of_time = True
        for process in self._processes():
            self._end_by_force(process)

    def _end_by_force(self, process: WorkerProcess) -> None:
        self._log.warning("worker ended by force", pid=process.pid, worker_id=process.report.worker_id)
        process.kill()

    async def _replace_stalled(self) -> None:
        """End who has not reported for too long: its event loop stands still, and it gave its entries up."""
        longest = self._orders.worker.hang.total_seconds() + 2 * REPORT_EVERY
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for process in self._processes():
                process.listen(LOOK_EVERY)
                if process.silence > longest:
                    self._log.error("worker stalled", pid=process.pid, silent_seconds=round(process.silence))
                    process.kill()

    async def _reload_when_told(self) -> None:
        while not self._ending.is_set():
            await self._reload.wait()
            self._reload.clear()
            if not self._ending.is_set():
                await self._replace_all()

    async def _replace_all(self) -> None:
        """Replace one process after another."""
        reloading()
        for place in self._places:
            if not await self._replace(place):
                self._log.error("reload given up; the workers that run go on")
                break
        else:
            self._log.info("reloaded", workers=len(self._places))
        if not self._ending.is_set():
            notify("READY=1")

    async def _replace(self, place: _Place) -> bool:
        """Start a successor, and drain who is there once that works; whether it does."""
        if self._ending.is_set() or (successor := await self._start()) is None:
            return False
        place.successor = successor
        place.hurry.set()
        works = await successor.begins(READY_IN)
        if self._ending.is_set():
            # All were told, and whoever is in its place is waited for there.
            return False
        if not works:
            await self._give_up(place, successor)
            return False
        place.falls = 0
        old = place.current
        if old is not None and old is not successor:
            await self._see_off(old)
        return True

    async def _give_up(self, place: _Place, successor: WorkerProcess) -> None:
        """End a successor that does not begin to work."""
        failure = successor.report.failure
        why = failure.message if failure else "it is not ready in time"
        self._log.error("successor cannot begin", why=why)
        successor.kill()
        await successor.wait()
        # Where the one before it has ended meanwhile, it is in its place, and that goes on as after any fall.
        if place.successor is successor:
            place.successor = None
            self._retire(successor)

    async def _see_off(self, old: WorkerProcess) -> None:
        """Have a process drained, and ended where it takes too long."""
        old.drain()
        try:
            async with asyncio.timeout(grace_of(self._orders).total_seconds()):
                await old.wait()
        except TimeoutError:
            self._end_by_force(old)
            await old.wait()

    async def _tell_systemd(self) -> None:
        """Say when all work, and then that they still do."""
        while not self.ready:  # noqa: ASYNC110 - many things make it so
            await asyncio.sleep(0.05)
        self._was_ready = True
        self._log.info("workers ready", workers=len(self._places), app=self._orders.app)
        notify("READY=1", f"STATUS={len(self._places)} workers")
        every = watchdog_seconds()
        while every:
            if self.healthy:
                notify("WATCHDOG=1")
            await asyncio.sleep(every)

    async def _reap(self) -> None:
        """As process 1, bury what others orphaned; our own are waited for elsewhere."""
        while True:
            await asyncio.sleep(REAP_EVERY)
            # One that is being started has a number that we do not know yet.
            if not self._starting:
                bury_orphans({process.pid for process in self._processes()})

    def _processes(self) -> Iterable[WorkerProcess]:
        for place in self._places:
            for process in (place.current, place.successor):
                if process is not None and not process.exited.is_set():
                    yield process

    def _retire(self, process: WorkerProcess) -> None:
        """Keep what a process counted that has ended, so that no counter falls."""
        self._retired = total([*self._retired, *at_rest(process.report.figures)])


def pause_after(falls: int) -> float:
    """Seconds before the next start, after so many falls in a row."""
    doublings = min(falls - 1, HOPELESS)
    return min(FIRST_PAUSE * float(1 << doublings), LONGEST_PAUSE)


def _how(code: int) -> str:
    """What an exit code says."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
