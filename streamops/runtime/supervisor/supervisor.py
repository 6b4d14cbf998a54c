"""The parent of worker processes: starts, watches, restarts, reloads and drains them.

It imports nothing of the application: what a handler leaks or breaks ends with its process, and a reload runs the code that
is there now.
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
"""How long a slot stays empty after its process crashed."""
STEADY: Final = 30.0
"""Seconds after which a process has outlived the crashes before it: the next one counts as the first."""
MOST_CRASHES: Final = 8
"""Crashes in a row, in every slot, after which the supervisor gives up."""
READY_IN: Final = 60.0
"""Seconds that a successor has to get ready."""
LOOK_EVERY: Final = 1.0
SOON: Final = 0.05
REAP_EVERY: Final = 1.0
WATCH_EVERY: Final = 0.5


class CannotStart(StreamopsError):
    """No worker process can start: what the first one reported."""

    def __init__(self, failure: StartFailure) -> None:
        super().__init__(failure.message, failure.hint)
        self.exit_code = ExitCode(failure.exit_code)


class Supervisor:
    """Keeps worker processes running.

    Args:
        spec: What each of them does.
        workers: How many; None for the pool's desired count.
        default_workers: How many while the pool has no desired count.
        watch: Whether to reload whenever a Python file beside the application's modules changes.
        environment: Environment variables that they have besides ours.
        renew: Makes the spec that holds from a reload on; the same as before unless given.

    Attributes:
        processes: The processes and their state.
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
        self._follows_pool = workers is None
        self._watch = watch
        # If only the application names the server, one process must report it before the pool can be read.
        first = workers if workers is not None else int(spec.connection is None)
        self.processes = ProcessTable(self._reporting(spec), first, environment)
        self._renew = renew
        self._default_workers = default_workers
        self._tasks: asyncio.TaskGroup | None = None
        self._reload = asyncio.Event()
        self._forced = asyncio.Event()
        self._failure: StartFailure | None = None
        self._gave_up = False
        self._log = structlog.get_logger("streamops")

    def _reporting(self, spec: WorkerSpec) -> WorkerSpec:
        """A spec that has the processes report what the supervisor needs to know."""
        needs_connection = self._follows_pool and spec.connection is None
        return replace(spec, tell_connection=needs_connection, tell_directories=self._watch)

    async def run(self) -> ExitCode:
        """Keep the processes running until a signal stops them; the program's exit code.

        SIGTERM and SIGINT drain, a second one kills; SIGHUP reloads.

        Raises:
            CannotStart: The first process cannot start: no such application, no permission, and so on.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self.reload)
        try:
            return await self.keep()
        finally:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                loop.remove_signal_handler(number)

    async def keep(self) -> ExitCode:
        """Keep the processes running until ``stop`` is called; the program's exit code. It handles no signals.

        Raises:
            CannotStart: The first process cannot start.
        """
        watchers = [asyncio.create_task(work) for work in self._watchers()]
        try:
            async with asyncio.TaskGroup() as self._tasks:
                # A reload waits for each successor that it started.
                self._tasks.create_task(self._reload_when_asked())
                for slot in self.processes.slots:
                    self._tasks.create_task(self._fill(slot))
        finally:
            for watcher in watchers:
                watcher.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)
        if self._failure is not None:
            raise CannotStart(self._failure)
        if self._gave_up:
            return ExitCode.FAILED
        return ExitCode.INTERRUPTED if self._forced.is_set() else ExitCode.DONE

    def stop(self) -> None:
        """Drain all processes and end; if called again, kill them."""
        if self.processes.ending.is_set():
            self._forced.set()
            return
        self._log.info("draining", grace_seconds=self.processes.spec.worker.grace.total_seconds())
        self._begin_end()

    def reload(self) -> None:
        """Replace the processes one after another, each once its successor is ready."""
        self._reload.set()

    async def resize(self, workers: int) -> None:
        """Change the number of processes; idle ones are drained before busy ones."""
        slots = self.processes.slots
        if len(slots) > workers:
            await self.processes.request_reports()
        if self.processes.ending.is_set() or self._tasks is None:
            return
        while len(slots) > workers:
            self._close(min(reversed(slots), key=lambda slot: slot.rank))
        while len(slots) < workers:
            slot = ProcessSlot()
            slots.append(slot)
            self._tasks.create_task(self._fill(slot))

    def _close(self, slot: ProcessSlot) -> None:
        """Remove a slot; its processes are drained."""
        self.processes.slots.remove(slot)
        self.processes.closing.append(slot)
        slot.closing = True
        slot.wake.set()
        assert self._tasks is not None  # noqa: S101 - only while it runs
        for process in (slot.current, slot.successor):
            if process is not None:
                self._tasks.create_task(self.processes.stop(process))

    def _watchers(self) -> Iterable[Any]:
        yield self._end()
        if self._follows_pool:
            yield self._follow_pool()
        if self._watch:
            yield self._watch_files()
        yield self._end_stalled()
        yield self._notify_systemd()
        if os.getpid() == 1:
            yield self._reap()

    def _begin_end(self) -> None:
        self.processes.ending.set()
        self._reload.set()
        for slot in (*self.processes.slots, *self.processes.closing):
            slot.wake.set()

    async def _end(self) -> None:
        """Once all are to end: drain, and kill what has not ended within the grace, or at once if asked again."""
        await self.processes.ending.wait()
        notify("STOPPING=1")
        self.processes.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_of(self.processes.spec).total_seconds()):
                await self._forced.wait()
        self.processes.kill()

    async def _fill(self, slot: ProcessSlot) -> None:
        """Keep a process running in a slot, until the slot is closed or all end."""
        while slot.successor is not None or not (self.processes.ending.is_set() or slot.closing):
            process = slot.current = await self._next_process(slot)
            if process is None:
                await self._pause(slot, self._count_crash(slot))
                continue
            code = await process.wait()
            self.processes.retire(process)
            slot.current = None
            if not process.stopping and not self.processes.ending.is_set():
                await self._handle_exit(slot, process, code)
            elif process.ready.is_set() and process.report.failure is not None:
                self._log.error(
                    "worker failed as it ended", pid=process.pid, how=process.report.failure.message
                )
        if slot.closing:
            self.processes.closing.remove(slot)

    async def _next_process(self, slot: ProcessSlot) -> WorkerProcess | None:
        """The slot's successor if it has one, else a new process; None if the system starts none."""
        process = None if slot.successor is not None else await self.processes.start(slot)
        if process is None:
            process, slot.successor = slot.successor, None
        return process

    async def _handle_exit(self, slot: ProcessSlot, process: WorkerProcess, code: int) -> None:
        """Decide what follows on the end of a process that was not stopped: a new one, a pause first, or the end of all."""
        failure, recycled = process.report.failure, process.report.recycled
        if failure is not None and not self.processes.was_ready and not process.ready.is_set():
            self._failure = self._failure or failure
            self._begin_end()
            return
        if recycled is Recycled.IDLE and code == 0:
            # It has counted what the other processes have in flight.
            self._log.info("nothing left to do", pid=process.pid)
            self._begin_end()
            return
        idle = not any(one.handled for one in process.report.figures)
        if recycled is not None and code == 0 and not idle:
            self._log.info("worker recycled", pid=process.pid, reason=recycled.value)
            slot.crashes = 0
            return
        if process.lived > STEADY:
            slot.crashes = 0
        pause = self._count_crash(slot)
        if recycled is not None and code == 0:
            how = f"recycled before it did anything: {recycled.value}"
        else:
            how = failure.message if failure else describe_exit(code)
        self._log.error(
            "worker crashed",
            pid=process.pid,
            how=how,
            worker_id=process.report.worker_id,
            restart_in_seconds=pause,
        )
        await self._pause(slot, pause)

    def _count_crash(self, slot: ProcessSlot) -> float:
        """Count a crash; seconds to pause after it."""
        slot.crashes += 1
        return PAUSES.pause(slot.crashes)

    async def _pause(self, slot: ProcessSlot, seconds: float) -> None:
        """Wait before the next start, until woken; give up if all slots have crashed too often."""
        slots = self.processes.slots
        if slots and all(each.crashes >= MOST_CRASHES for each in slots):
            self._log.error("every worker keeps crashing", crashes=MOST_CRASHES)
            self._gave_up = True
            self._begin_end()
        if slot.successor is None and not (self.processes.ending.is_set() or slot.closing):
            slot.wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await slot.wake.wait()

    async def _reload_when_asked(self) -> None:
        while not self.processes.ending.is_set():
            await self._reload.wait()
            self._reload.clear()
            if not self.processes.ending.is_set():
                await self._reload_all()

    async def _reload_all(self) -> None:
        """Replace one process after another; if a successor fails, the others keep running by the former spec."""
        notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")
        former = self.processes.spec
        try:
            if self._renew is not None:
                # In a thread: it reads files, and may run a program that prints a password.
                self.processes.spec = self._reporting(await asyncio.to_thread(self._renew))
        except StreamopsError as error:
            self._log.error("reload failed; the running workers stay", why=error.message)
        else:
            for slot in tuple(self.processes.slots):
                if not slot.closing and not await self._replace(slot):
                    self.processes.spec = former
                    self._log.error("reload failed; the running workers stay")
                    break
            else:
                self._log.info("reloaded", workers=len(self.processes.slots))
        if not self.processes.ending.is_set():
            notify("READY=1")

    async def _replace(self, slot: ProcessSlot) -> bool:
        """Start a successor, and drain the current process once it is ready; whether the reload may go on."""
        if self.processes.ending.is_set() or (successor := await self.processes.start(slot)) is None:
            return False
        slot.successor = successor
        slot.wake.set()
        ready = await successor.becomes_ready(READY_IN)
        if self.processes.ending.is_set():
            return False
        if slot.closing:
            # The pool was scaled down meanwhile: both processes are being stopped.
            return True
        if not ready:
            await self._give_up(slot, successor)
            return False
        slot.crashes = 0
        old = slot.current
        if old is not None and old is not successor:
            await self.processes.stop(old)
        return True

    async def _give_up(self, slot: ProcessSlot, successor: WorkerProcess) -> None:
        """Kill a successor that does not get ready."""
        failure = successor.report.failure
        why = failure.message if failure else "it is not ready in time"
        self._log.error("successor cannot start", why=why)
        successor.kill()
        await successor.wait()
        # If the current process has ended meanwhile, the successor is the current one, and `_fill` handles its end.
        if slot.successor is successor:
            slot.successor = None
            self.processes.retire(successor)

    async def _follow_pool(self) -> None:
        """Run as many processes as the pool desires."""
        async with aclosing(PoolSync(self.processes, self._default_workers).sizes()) as sizes:
            async for workers in sizes:
                await self.resize(workers)

    async def _end_stalled(self) -> None:
        """Kill a process that has not reported for too long: its event loop is blocked, and its leases have expired."""
        longest = self.processes.spec.worker.hang.total_seconds() + 2 * REPORT_EVERY
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for process in self.processes:
                process.add_silence(LOOK_EVERY)
                if process.silence > longest:
                    self._log.error("worker stalled", pid=process.pid, silent_seconds=round(process.silence))
                    process.kill()

    async def _notify_systemd(self) -> None:
        """Notify systemd once all processes are ready, and then that they still are healthy."""
        processes = self.processes
        while not processes.ready:  # noqa: ASYNC110 - many things make it so
            await asyncio.sleep(SOON)
        processes.was_ready = True
        workers = len(processes.slots)
        self._log.info("workers ready", workers=workers, app=processes.spec.app)
        notify("READY=1", f"STATUS={workers} workers")
        every = watchdog_seconds()
        while every:
            if processes.healthy:
                notify("WATCHDOG=1")
            await asyncio.sleep(every)

    async def _reap(self) -> None:
        """As process 1, reap orphans; our own children are waited for elsewhere."""
        while True:
            await asyncio.sleep(REAP_EVERY)
            # The PID of a process that is being started is not known yet.
            if not self.processes.starting:
                reap_orphans({process.pid for process in self.processes})

    async def _watch_files(self) -> None:
        """Reload whenever a Python file in a directory of the application's modules is changed, added or removed."""
        directories, known = set[str](), dict[str, int]()
        while True:
            await asyncio.sleep(WATCH_EVERY)
            for process in self.processes:
                fresh = {*process.directories} - directories
                directories |= fresh
                # A file changed since the process started may have been imported before the change.
                began_ns = time.time_ns() - int(process.lived * 1e9)
                known |= {path: at for path, at in _python_files(fresh) if at < began_ns}
            now = dict(_python_files(directories))
            changed = sorted(path for path in now.keys() | known.keys() if now.get(path) != known.get(path))
            known = now
            if changed:
                self._log.info("files changed", files=", ".join(map(os.path.relpath, changed)))
                self.reload()


def describe_exit(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def notify(*states: str) -> None:
    """Send states such as ``READY=1`` to systemd; does nothing without ``NOTIFY_SOCKET``."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # An abstract socket's name begins with a zero byte, which systemd writes as "@".
    path = f"\0{address[1:]}" if address.startswith("@") else address
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto("\n".join(states).encode(), path)


def watchdog_seconds() -> float | None:
    """Half the interval of systemd's watchdog in seconds; None if it has none."""
    text = os.environ.get("WATCHDOG_USEC", "")
    return int(text) / 2e6 if text.isdigit() and int(text) else None


def reap_orphans(ours: set[int]) -> None:
    """Wait for ended processes that are not ours; returns at once."""
    with suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if found.si_pid in ours:
                # Asyncio reaps it in a moment; those behind it wait until then.
                return
            os.waitpid(found.si_pid, os.WNOHANG)


def _python_files(directories: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Python files, each with the time of its last change in nanoseconds."""
    for directory in directories:
        # The directory, or a file in it, may be removed meanwhile.
        with suppress(OSError):
            for entry in os.scandir(directory):
                if entry.name.endswith(".py"):
                    yield entry.path, entry.stat().st_mtime_ns
