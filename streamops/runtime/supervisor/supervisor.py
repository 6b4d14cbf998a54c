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
from streamops.runtime.supervisor.orders import Failure, Orders, grace_of
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.systemd import notify, reloading, watchdog_seconds

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
"""Seconds before a process that fell is replaced: doubled with each fall in a row."""
STEADY: Final = 30.0
"""Seconds after which a process has not fallen in a row with those before."""
HOPELESS: Final = 8
"""Falls in a row, in every place, after which nothing is tried any more."""
READY_IN: Final = 60.0
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
        successor: The process that takes over when that has drained; none where there is no reload.
        falls: How many fell in a row.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.current: WorkerProcess | None = None
        self.successor: WorkerProcess | None = None
        self.falls = 0


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
        """Whether no process is stalled, and not every one has fallen."""
        processes = list(self._processes())
        return bool(processes) and not any(one.report.state is WorkerState.STALLED for one in processes)

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
            await asyncio.gather(*(self._keep(place) for place in self._places))
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
        yield self._reload_when_told()
        yield self._tell_systemd()
        if os.getpid() == 1:
            yield self._reap()

    def _told_to_stop(self) -> None:
        if self._ending.is_set():
            self._forced.set()
            return
        self._log.info("draining", grace_seconds=self._orders.worker.grace.total_seconds())
        self._ending.set()

    async def _keep(self, place: _Place) -> None:
        """Have a process in a place, for as long as there is to be one."""
        while not self._ending.is_set():
            process = place.successor or await WorkerProcess.start(self._orders)
            place.current, place.successor = process, None
            if self._ending.is_set():
                # It was being started when the others were told.
                (process.kill if self._forced.is_set() else process.drain)()
            code = await process.wait()
            self._retire(process)
            place.current = None
            if self._ending.is_set() or place.successor is not None:
                continue
            await self._after(place, process, code)

    async def _after(self, place: _Place, process: WorkerProcess, code: int) -> None:
        """A process ended that was not told to."""
        failure, recycled = process.report.failure, process.report.recycled
        if failure is not None and not self._was_ready:
            self._failure = self._failure or failure
            self._ending.set()
            return
        if recycled is not None and code == 0:
            self._log.info("worker recycled", pid=process.pid, reason=recycled.value)
            place.falls = 0
            return
        place.falls = 1 if process.lived > STEADY else place.falls + 1
        pause = min(FIRST_PAUSE * 2 ** (place.falls - 1), LONGEST_PAUSE)
        self._log.error(
            "worker fell",
            pid=process.pid,
            how=failure.message if failure else _how(code),
            worker_id=process.report.worker_id,
            restart_in_seconds=pause,
        )
        if all(each.falls >= HOPELESS for each in self._places):
            self._log.error("every worker keeps falling", falls=HOPELESS)
            self._hopeless = True
            self._ending.set()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._ending.wait()

    async def _end(self) -> None:
        """Once told to stop: drain, then end what has not drained in time, or at once where told again."""
        await self._ending.wait()
        notify("STOPPING=1")
        for process in self._processes():
            process.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_of(self._orders).total_seconds()):
                await self._forced.wait()
        for process in self._processes():
            self._log.warning("worker ended by force", pid=process.pid, worker_id=process.report.worker_id)
            process.kill()

    async def _reload_when_told(self) -> None:
        while True:
            await self._reload.wait()
            self._reload.clear()
            reloading()
            for place in self._places:
                if not await self._replace(place):
                    self._log.error("reload given up; the workers that run go on")
                    break
            else:
                self._log.info("reloaded", workers=len(self._places))
            notify("READY=1")

    async def _replace(self, place: _Place) -> bool:
        """Start a successor, and drain who is there once that works; whether it does."""
        if self._ending.is_set():
            return False
        successor = await WorkerProcess.start(self._orders)
        works = asyncio.create_task(successor.ready.wait())
        falls = asyncio.create_task(successor.exited.wait())
        await asyncio.wait([works, falls], timeout=READY_IN, return_when=asyncio.FIRST_COMPLETED)
        for task in (works, falls):
            task.cancel()
        if not successor.ready.is_set() or successor.exited.is_set():
            failure = successor.report.failure
            self._log.error(
                "successor cannot begin", why=failure.message if failure else "it is not ready in time"
            )
            successor.kill()
            return False
        old = place.current
        place.successor = successor
        if old is not None:
            old.drain()
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_of(self._orders).total_seconds()):
                    await old.wait()
            old.kill()
        return True

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
            ours = {process.pid for process in self._processes()}
            bury_orphans(ours)

    def _processes(self) -> Iterable[WorkerProcess]:
        for place in self._places:
            for process in (place.current, place.successor):
                if process is not None and not process.exited.is_set():
                    yield process

    def _retire(self, process: WorkerProcess) -> None:
        """Keep what a process counted that has ended, so that no counter falls."""
        self._retired = total([*self._retired, *at_rest(process.report.figures)])


def bury_orphans(ours: set[int]) -> None:
    """Wait for the processes that have ended and are not ours; it takes no time."""
    with suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if found.si_pid in ours:
                # Whoever waits for it does so in a moment; those behind it have time until then.
                return
            os.waitpid(found.si_pid, os.WNOHANG)


def _how(code: int) -> str:
    """What an exit code says."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
