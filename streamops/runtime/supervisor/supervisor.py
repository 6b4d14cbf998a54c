"""The parent of worker processes: starts, watches, restarts, reloads and drains them.

It imports nothing of the application: what a handler leaks or breaks ends with its process, and a reload gets the
code that is there now.
"""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final

import structlog
from msgspec.structs import replace

from streamops.errors import ExitCode, StreamopsError
from streamops.model.schedules import Backoff
from streamops.runtime.supervisor.pool import PoolSync
from streamops.runtime.supervisor.process import ProcessSlot, ProcessTable, WorkerProcess
from streamops.runtime.supervisor.spec import REPORT_EVERY, Recycled, StartFailure, WorkerSpec, grace_of

PAUSES: Final = Backoff(0.25, 30.0)
"""How long a process that fell is not replaced."""
STEADY: Final = 30.0
"""Seconds after which a process has not fallen in a row with those before."""
HOPELESS: Final = 8
"""Falls in a row, in every place, after which nothing is tried any more."""


def code_in_words(code: int) -> str:
    """What an exit code says."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def notify(*states: str) -> None:
    """Send states such as ``READY=1``; nothing happens where no service manager listens."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # An abstract socket's name begins with a zero byte, which systemd writes as "@".
    place = f"\0{address[1:]}" if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as telling:
        telling.sendto("\n".join(states).encode(), place)


def reloading() -> None:
    """Say that a reload has begun."""
    notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")


def watchdog_seconds() -> float | None:
    """How often systemd wants a sign of life, halved; None if it does not."""
    text = os.environ.get("WATCHDOG_USEC", "")
    return int(text) / 2e6 if text.isdigit() and int(text) else None


def reap_orphans(ours: set[int]) -> None:
    """Wait for the processes that have ended and are not ours; it takes no time."""
    with suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if found.si_pid in ours:
                # Its own waiter reaps it in a moment; those behind it have time until then.
                return
            os.waitpid(found.si_pid, os.WNOHANG)


LOOK_EVERY: Final = 1.0
SOON: Final = 0.05
REAP_EVERY: Final = 1.0


async def end_stalled(processes: ProcessTable) -> None:
    """End who has not reported for too long: its event loop stands still, and it gave its entries up."""
    log = structlog.get_logger("streamops")
    longest = processes.spec.worker.hang.total_seconds() + 2 * REPORT_EVERY
    while True:
        await asyncio.sleep(LOOK_EVERY)
        for process in processes:
            process.listen(LOOK_EVERY)
            if process.silence > longest:
                log.error("worker stalled", pid=process.pid, silent_seconds=round(process.silence))
                process.kill()


async def notify_systemd(processes: ProcessTable) -> None:
    """Say when all work, and then that they still do."""
    while not processes.ready:  # noqa: ASYNC110 - many things make it so
        await asyncio.sleep(SOON)
    processes.was_ready = True
    workers = len(processes.places)
    structlog.get_logger("streamops").info("workers ready", workers=workers, app=processes.spec.app)
    notify("READY=1", f"STATUS={workers} workers")
    every = watchdog_seconds()
    while every:
        if processes.healthy:
            notify("WATCHDOG=1")
        await asyncio.sleep(every)


async def reap(processes: ProcessTable) -> None:
    """As process 1, bury what others orphaned; our own are waited for elsewhere."""
    while True:
        await asyncio.sleep(REAP_EVERY)
        # One that is being started has a number that we do not know yet.
        if not processes.starting:
            reap_orphans({process.pid for process in processes})


READY_IN: Final = 60.0


class Reloading:
    """Replaces all processes at each request.

    Args:
        processes: The processes.
        renew: Gives what they are to do from a reload on; raises ``StreamopsError`` if that makes no sense.
    """

    def __init__(self, processes: ProcessTable, renew: Callable[[], WorkerSpec]) -> None:
        self._processes = processes
        self._renew = renew
        self._asked = asyncio.Event()
        self._log = structlog.get_logger("streamops")

    def reload(self) -> None:
        """Have them replaced; or notice that all are to end."""
        self._asked.set()

    async def run(self) -> None:
        """Replace them whenever asked to, until all are to end."""
        while not self._processes.ending.is_set():
            await self._asked.wait()
            self._asked.clear()
            if not self._processes.ending.is_set():
                await self._replace_all()

    async def _replace_all(self) -> None:
        """Replace one process after another; if one fails, the others go on with what they had to do."""
        reloading()
        former = self._processes.spec
        try:
            # It reads files, and may run a program that gives a password.
            self._processes.spec = await asyncio.to_thread(self._renew)
        except StreamopsError as error:
            self._log.error("reload given up; the workers that run go on", why=error.message)
        else:
            for place in tuple(self._processes.places):
                if not place.closing and not await self._replace(place):
                    self._processes.spec = former
                    self._log.error("reload given up; the workers that run go on")
                    break
            else:
                self._log.info("reloaded", workers=len(self._processes.places))
        if not self._processes.ending.is_set():
            notify("READY=1")

    async def _replace(self, place: ProcessSlot) -> bool:
        """Start a successor, and drain who is there once that works; whether it does."""
        if self._processes.ending.is_set() or (successor := await self._processes.start(place)) is None:
            return False
        place.successor = successor
        place.hurry.set()
        works = await successor.begins(READY_IN)
        if self._processes.ending.is_set():
            # All were told, and each is waited for in its place.
            return False
        if not works:
            await self._give_up(place, successor)
            return False
        place.falls = 0
        old = place.current
        if old is not None and old is not successor:
            await self._processes.see_off(old)
        return True

    async def _give_up(self, place: ProcessSlot, successor: WorkerProcess) -> None:
        """End a successor that does not begin to work."""
        failure = successor.report.failure
        why = failure.message if failure else "it is not ready in time"
        self._log.error("successor cannot begin", why=why)
        successor.kill()
        await successor.wait()
        # If the one before it has ended meanwhile, it is in its place, and that goes on as after any fall.
        if place.successor is successor:
            place.successor = None
            self._processes.retire(successor)


WATCH_EVERY: Final = 0.5


async def watch_files(processes: ProcessTable, reloading: Reloading) -> None:
    """Reload whenever a Python file in a directory of the application's modules was changed, added or removed."""
    log = structlog.get_logger("streamops")
    directories, known = set[str](), dict[str, int]()
    while True:
        await asyncio.sleep(WATCH_EVERY)
        for process in processes:
            fresh = {*process.directories} - directories
            directories |= fresh
            # What changed after the process began may have been imported as it was before.
            began_ns = time.time_ns() - int(process.lived * 1e9)
            known |= {path: at for path, at in _python_files(fresh) if at < began_ns}
        now = dict(_python_files(directories))
        changed = sorted(path for path in now.keys() | known.keys() if now.get(path) != known.get(path))
        known = now
        if changed:
            log.info("files changed", files=", ".join(map(os.path.relpath, changed)))
            reloading.reload()


def _python_files(directories: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Python files, each with the time of its last change."""
    for directory in directories:
        # It may be removed just now, and so may a file in it.
        with suppress(OSError):
            for entry in os.scandir(directory):
                if entry.name.endswith(".py"):
                    yield entry.path, entry.stat().st_mtime_ns


class CannotStart(StreamopsError):
    """No worker process can begin: what the first one said."""

    def __init__(self, failure: StartFailure) -> None:
        super().__init__(failure.message, failure.hint)
        self.exit_code = ExitCode(failure.exit_code)


class Supervisor:
    """Keeps worker processes running.

    Args:
        spec: What each of them is to do.
        workers: How many; as many as their pool is told, if none is given.
        default_workers: How many if the pool was never given a number.
        watch: Whether they are replaced whenever a Python file beside the application's modules changes.
        environment: Environment variables that they have besides ours.
        renew: Gives what they are to do from a reload on; the same as before unless given.

    Attributes:
        processes: The processes, which says how they are.
    """

    def __init__(
        self,
        spec: WorkerSpec,
        workers: int | None,
        *,
        default_workers: int = 1,
        watch: bool = False,
        environment: Mapping[str, str] | None = None,
        renew: Callable[[], WorkerSpec] | None = None,
    ) -> None:
        self._follows = workers is None
        self._watch = watch
        # Before the pool could be asked, one is enough to say where.
        begin = workers if workers is not None else int(spec.connection is None)
        self.processes = ProcessTable(self._reporting(spec), begin, environment)
        self._reloading = Reloading(
            self.processes, lambda: self._reporting(renew()) if renew else self.processes.spec
        )
        self._unless_told = default_workers
        self._tasks: asyncio.TaskGroup | None = None
        self._forced = asyncio.Event()
        self._failure: StartFailure | None = None
        self._hopeless = False
        self._log = structlog.get_logger("streamops")

    def _reporting(self, spec: WorkerSpec) -> WorkerSpec:
        """What a process is to do, with what the supervisor needs to be told by it."""
        asks = self._follows and spec.connection is None
        return replace(spec, tell_connection=asks, tell_directories=self._watch)

    async def run(self) -> ExitCode:
        """Keep them running until asked to stop; what the program should end with.

        SIGTERM and SIGINT drain, a second one ends everything at once; SIGHUP replaces one process after another.

        Raises:
            CannotStart: The first process could not begin: no such application, no permission, and so on.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self._reloading.reload)
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
                # A reload under way sees to it that no process that it started is forgotten.
                self._tasks.create_task(self._reloading.run())
                for place in self.processes.places:
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
        """Drain all processes and end; asked again, end at once."""
        if self.processes.ending.is_set():
            self._forced.set()
            return
        self._log.info("draining", grace_seconds=self.processes.spec.worker.grace.total_seconds())
        self._begin_end()

    async def resize(self, workers: int) -> None:
        """Have another number of processes; who is not needed is drained, the idle before the busy."""
        places = self.processes.places
        if len(places) > workers:
            await self.processes.ask_all()
        if self.processes.ending.is_set() or self._tasks is None:
            return
        while len(places) > workers:
            self._close(min(reversed(places), key=lambda place: place.rank))
        while len(places) < workers:
            place = ProcessSlot()
            places.append(place)
            self._tasks.create_task(self._keep(place))

    def _close(self, place: ProcessSlot) -> None:
        """Do without a place: its process finishes what it has begun."""
        self.processes.places.remove(place)
        self.processes.closing.append(place)
        place.closing = True
        place.hurry.set()
        assert self._tasks is not None  # noqa: S101 - only while it runs
        for process in (place.current, place.successor):
            if process is not None:
                self._tasks.create_task(self.processes.see_off(process))

    def _helpers(self) -> Iterable[Any]:
        yield self._end()
        if self._follows:
            yield self._follow_pool()
        if self._watch:
            yield watch_files(self.processes, self._reloading)
        yield end_stalled(self.processes)
        yield notify_systemd(self.processes)
        if os.getpid() == 1:
            yield reap(self.processes)

    async def _follow_pool(self) -> None:
        """Run as many processes as the pool asks for."""
        async with aclosing(PoolSync(self.processes, self._unless_told).sizes()) as sizes:
            async for workers in sizes:
                await self.resize(workers)

    def _begin_end(self) -> None:
        self.processes.ending.set()
        self._reloading.reload()
        for place in (*self.processes.places, *self.processes.closing):
            place.hurry.set()

    async def _end(self) -> None:
        """Once asked to stop: drain, then end what has not drained in time, or at once where asked again."""
        await self.processes.ending.wait()
        notify("STOPPING=1")
        self.processes.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_of(self.processes.spec).total_seconds()):
                await self._forced.wait()
        self.processes.kill()

    async def _keep(self, place: ProcessSlot) -> None:
        """Have a process in a place, for as long as there is to be one."""
        while place.successor is not None or not (self.processes.ending.is_set() or place.closing):
            process = place.current = await self._next(place)
            if process is None:
                await self._pause(place, self._fallen(place))
                continue
            code = await process.wait()
            self.processes.retire(process)
            place.current = None
            if not process.told and not self.processes.ending.is_set():
                await self._after(place, process, code)
            elif process.ready.is_set() and process.report.failure is not None:
                self._log.error(
                    "worker failed as it ended", pid=process.pid, how=process.report.failure.message
                )
        if place.closing:
            self.processes.closing.remove(place)

    async def _next(self, place: ProcessSlot) -> WorkerProcess | None:
        """Who is to be there: the successor if there is one, else a fresh one; None if none can be started."""
        process = None if place.successor is not None else await self.processes.start(place)
        if process is None:
            process, place.successor = place.successor, None
        return process

    async def _after(self, place: ProcessSlot, process: WorkerProcess, code: int) -> None:
        """A process ended that was not asked to."""
        failure, recycled = process.report.failure, process.report.recycled
        if failure is not None and not self.processes.was_ready and not process.ready.is_set():
            self._failure = self._failure or failure
            self._begin_end()
            return
        if recycled is Recycled.IDLE and code == 0:
            # It has looked at what all of them have in hand.
            self._log.info("nothing left to do", pid=process.pid)
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
            how = failure.message if failure else code_in_words(code)
        self._log.error(
            "worker fell",
            pid=process.pid,
            how=how,
            worker_id=process.report.worker_id,
            restart_in_seconds=pause,
        )
        await self._pause(place, pause)

    def _fallen(self, place: ProcessSlot) -> float:
        """Count a fall; how long to pause after it."""
        place.falls += 1
        return PAUSES.pause(place.falls)

    async def _pause(self, place: ProcessSlot, seconds: float) -> None:
        """Wait before a process is started again, unless there is no sense in it, or another is there already."""
        places = self.processes.places
        if places and all(each.falls >= HOPELESS for each in places):
            self._log.error("every worker keeps falling", falls=HOPELESS)
            self._hopeless = True
            self._begin_end()
        if place.successor is None and not (self.processes.ending.is_set() or place.closing):
            place.hurry.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await place.hurry.wait()
