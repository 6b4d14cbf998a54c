"""The parent of worker processes: starts, watches, restarts, reloads and drains them.

It imports nothing of the application: what a handler leaks or breaks ends with its process, and a reload gets the
code that is there now.
"""

import asyncio
import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import structlog
from msgspec.structs import replace

from streamops.errors import ExitCode, StreamopsError
from streamops.runtime.figures import HandlerFigures, at_rest, total
from streamops.runtime.supervisor.orders import REPORT_EVERY, Failure, Orders, grace_of
from streamops.runtime.supervisor.orphans import bury_orphans
from streamops.runtime.supervisor.place import Place
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.staffing import Staffing
from streamops.runtime.supervisor.systemd import notify, reloading, watchdog_seconds
from streamops.wire.options import ConnectionOptions

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
SOON: Final = 0.05
ANSWER_IN: Final = 0.5
REAP_EVERY: Final = 1.0


class CannotStart(StreamopsError):
    """No worker process can begin: what the first one said."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, failure.hint)
        self.exit_code = ExitCode(failure.exit_code)


class Supervisor:
    """Keeps worker processes running.

    Args:
        orders: What each of them is to do.
        workers: How many; as many as their pool is told, where none is given.
        unless_told: How many where nobody has told the pool a number.
        environment: Environment variables that they have besides ours.
    """

    def __init__(
        self,
        orders: Orders,
        workers: int | None,
        *,
        unless_told: int = 1,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._follows = workers is None
        self._orders = replace(orders, tell_connection=self._follows and orders.connection is None)
        # Before the pool could be asked, one is enough to say where.
        begin = workers if workers is not None else int(orders.connection is None)
        self._places = [Place() for _ in range(begin)]
        self._closing: list[Place] = []
        self._unless_told = unless_told
        self._environment = environment
        self._tasks: asyncio.TaskGroup | None = None
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
        return all(place.current is not None and place.current.works for place in self._places)

    @property
    def healthy(self) -> bool:
        """Whether all processes have reported of late, and not every one has fallen."""
        processes = list(self._processes())
        return (bool(processes) or not self._places) and all(one.silence <= SILENT for one in processes)

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Processes that work and were not told to end, the eldest first."""
        working = (one for one in self._processes() if one.works and not one.told)
        return sorted(working, key=lambda one: one.began)

    @property
    def size(self) -> tuple[int, int, int]:
        """How many processes there are to be, how many there are, and how many of them work."""
        return len(self._places), len(list(self._processes())), len(self.at_work)

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
        try:
            return await self.keep()
        finally:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                loop.remove_signal_handler(number)

    async def keep(self) -> ExitCode:
        """The same without an ear for signals, for who has a use of its own for them.

        Raises:
            CannotStart: The first process could not begin.
        """
        helpers = [asyncio.create_task(work) for work in self._helpers()]
        try:
            async with asyncio.TaskGroup() as self._tasks:
                # A reload under way sees to it that nobody whom it started is forgotten.
                self._tasks.create_task(self._reload_when_told())
                for place in self._places:
                    self._tasks.create_task(self._keep(place))
        finally:
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

    async def resize(self, workers: int) -> None:
        """Have another number of processes; who is not needed is drained, the idle before the busy."""
        if len(self._places) > workers:
            await self._ask_all()
        if self._ending.is_set() or self._tasks is None:
            return
        while len(self._places) > workers:
            self._close(min(reversed(self._places), key=lambda place: place.rank))
        while len(self._places) < workers:
            place = Place()
            self._places.append(place)
            self._tasks.create_task(self._keep(place))

    async def _ask_all(self) -> None:
        """Hear from all who is busy now; who does not answer at once has no time for it."""
        asking = [asyncio.create_task(process.asked()) for process in self._processes()]
        if asking:
            _, silent = await asyncio.wait(asking, timeout=ANSWER_IN)
            for task in silent:
                task.cancel()

    def _close(self, place: Place) -> None:
        """Do without a place: whoever is there finishes what it has begun."""
        self._places.remove(place)
        self._closing.append(place)
        place.closing = True
        place.hurry.set()
        assert self._tasks is not None  # noqa: S101 - only while it runs
        for process in (place.current, place.successor):
            if process is not None:
                self._tasks.create_task(self._see_off(process))

    def _helpers(self) -> Iterable[Any]:
        yield self._end()
        if self._follows:
            yield Staffing(
                self._orders.worker.pool,
                size=lambda: self.size,
                resize=self.resize,
                connection=self._find_connection,
                unless_told=self._unless_told,
            ).run()
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
        for place in (*self._places, *self._closing):
            place.hurry.set()

    async def _keep(self, place: Place) -> None:
        """Have a process in a place, for as long as there is to be one."""
        while place.successor is not None or not (self._ending.is_set() or place.closing):
            process = place.current = await self._next(place)
            if process is None:
                await self._pause(place, self._fallen(place))
                continue
            code = await process.wait()
            self._retire(process)
            place.current = None
            if not process.told and not self._ending.is_set():
                await self._after(place, process, code)
        if place.closing:
            self._closing.remove(place)

    async def _next(self, place: Place) -> WorkerProcess | None:
        """Who is to be there: the successor where there is one, else a fresh one; none where none can be started."""
        process = None if place.successor is not None else await self._start(place)
        if process is None:
            process, place.successor = place.successor, None
        return process

    async def _start(self, place: Place) -> WorkerProcess | None:
        """Start a process for a place; none where the system starts none."""
        self._starting += 1
        try:
            process = await WorkerProcess.start(self._orders, self._environment)
        except OSError as error:
            self._log.error("worker cannot be started", why=str(error))
            return None
        finally:
            self._starting -= 1
        if self._out_of_time:
            process.kill()
        elif self._ending.is_set() or place.closing:
            # It was being started when the others were told.
            process.drain()
        return process

    async def _after(self, place: Place, process: WorkerProcess, code: int) -> None:
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

    def _fallen(self, place: Place) -> float:
        """Count a fall; how long to pause after it."""
        place.falls += 1
        return pause_after(place.falls)

    async def _pause(self, place: Place, seconds: float) -> None:
        """Wait before a process is started anew, unless there is no sense in it, or another is there already."""
        if self._places and all(each.falls >= HOPELESS for each in self._places):
            self._log.error("every worker keeps falling", falls=HOPELESS)
            self._hopeless = True
            self._begin_end()
        if place.successor is None and not (self._ending.is_set() or place.closing):
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
        for place in tuple(self._places):
            if not place.closing and not await self._replace(place):
                self._log.error("reload given up; the workers that run go on")
                break
        else:
            self._log.info("reloaded", workers=len(self._places))
        if not self._ending.is_set():
            notify("READY=1")

    async def _replace(self, place: Place) -> bool:
        """Start a successor, and drain who is there once that works; whether it does."""
        if self._ending.is_set() or (successor := await self._start(place)) is None:
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

    async def _give_up(self, place: Place, successor: WorkerProcess) -> None:
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
            await asyncio.sleep(SOON)
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

    async def _find_connection(self) -> ConnectionOptions:
        """The server that is named on the command line, or the one that a worker says its application names."""
        while self._orders.connection is None:
            for process in self._processes():
                if process.connection is not None:
                    return process.connection
            await asyncio.sleep(SOON)
        return self._orders.connection

    def _processes(self) -> Iterable[WorkerProcess]:
        for place in (*self._places, *self._closing):
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
