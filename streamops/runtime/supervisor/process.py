"""Worker processes as their parent sees them: a process, its slot, and the table of all slots."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, Final

import structlog
from msgspec import DecodeError
from msgspec.structs import replace

from streamops.model.pools import WorkerState
from streamops.runtime.counts import HandlerCounts, at_rest, total
from streamops.runtime.supervisor.spec import WorkerReport, WorkerSpec, decode_report, encode_spec, grace_of
from streamops.wire.options import ConnectionOptions

ASK: Final = b"\n"


class WorkerProcess:
    """A running worker process.

    Attributes:
        pid: Its number.
        interpreter: What runs it.
        report: What it said last.
        connection: The server that its application names; None if it did not say so.
        directories: Where its application's modules are; empty if it did not say so.
        silence: Seconds since then, of those in which it was listened to; none are counted before its first report.
        told: Whether it was asked to end.
        began: When it was started, on the monotonic clock.
        ready: Set once it works.
        exited: Set once it has ended.
        exit_code: What it ended with; negative for a signal; none while it runs.
    """

    interpreter: ClassVar[str] = sys.executable

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pid = process.pid
        self.report = WorkerReport()
        self.connection: ConnectionOptions | None = None
        self.directories: tuple[str, ...] = ()
        self.silence = 0.0
        self.told = False
        self.began = time.monotonic()
        self.ready = asyncio.Event()
        self.exited = asyncio.Event()
        self.exit_code: int | None = None
        self._process = process
        self._asked = 0
        self._heard = asyncio.Event()
        self._heard.set()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def start(cls, spec: WorkerSpec, environment: Mapping[str, str] | None = None) -> "WorkerProcess":
        """Start a process and give it its orders.

        Args:
            spec: What it is to do.
            environment: Environment variables that it has besides ours.

        Raises:
            OSError: The system starts no process now.
        """
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                cls.interpreter,
                # Without it, modules in the current directory would run in place of ours.
                "-P",
                "-m",
                spec.module,
                env={**os.environ, **(environment or {})},
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(writing, *spec.sockets),
                # A Ctrl-C is meant for the parent, which drains its workers.
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        one = cls(process)
        assert process.stdin is not None  # noqa: S101 - it was asked for
        process.stdin.write(encode_spec(replace(spec, report_fd=writing)))
        one._tasks = [asyncio.create_task(one._listen(reading)), asyncio.create_task(one._wait())]
        return one

    @property
    def busy(self) -> int:
        """How many calls were under way when it last said so."""
        return sum(one.in_flight for one in self.report.figures)

    @property
    def answers(self) -> bool:
        """Whether it has reported since it was asked; a handler that blocks its event loop keeps it from that."""
        return self._heard.is_set()

    @property
    def works(self) -> bool:
        """Whether it works, or would if its pool were not paused."""
        return self.ready.is_set() and self.report.state in (WorkerState.RUNNING, WorkerState.PAUSED)

    @property
    def lived(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self.began

    async def asked(self) -> None:
        """Have it report now; returns when it has, or never."""
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        self._asked += 1
        self._heard.clear()
        with suppress(OSError):
            self._process.stdin.write(ASK)
        await self._heard.wait()

    def drain(self) -> None:
        """Tell it to finish what it has begun, and end."""
        self.told = True
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._signal(signal.SIGKILL)

    async def begins(self, seconds: float) -> bool:
        """Wait until it works, has ended, or takes too long; whether it works."""
        works = asyncio.create_task(self.ready.wait())
        ends = asyncio.create_task(self.exited.wait())
        await asyncio.wait([works, ends], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (works, ends):
            task.cancel()
        return self.ready.is_set() and not self.exited.is_set()

    def listen(self, seconds: float) -> None:
        """Count seconds in which it could have said something."""
        if self.report.worker_id:
            self.silence += seconds

    async def wait(self) -> int:
        """Wait for its end; what it ended with."""
        await self.exited.wait()
        assert self.exit_code is not None  # noqa: S101 - set before
        return self.exit_code

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def _listen(self, descriptor: int) -> None:
        """Take its reports."""
        reader = asyncio.StreamReader(limit=1 << 22)
        pipe = os.fdopen(descriptor, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while line := await reader.readline():
                with suppress(DecodeError):
                    self._hear(decode_report(line))
                if self.report.state is not WorkerState.STARTING:
                    self.ready.set()
        finally:
            transport.close()

    def _hear(self, report: WorkerReport) -> None:
        """Take what it says; one that fails says no more than why, and has done what it has done."""
        self.silence = 0.0
        if report.asked >= self._asked:
            self._heard.set()
        self.connection = report.connection or self.connection
        self.directories = report.directories or self.directories
        self.report = replace(self.report, failure=report.failure) if report.failure else report

    async def _wait(self) -> None:
        """Notice its end. Its last report may come after it."""
        code = await self._process.wait()
        listening = self._tasks[0]
        await asyncio.wait([listening], timeout=1)
        # Where a process that it left behind holds the pipe open.
        listening.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self.exit_code = code
        self.exited.set()


class ProcessSlot:
    """Where one worker process is to run.

    Attributes:
        current: The process there; none between two.
        successor: The process that takes over when that has ended, from its start on; None if there is no reload.
        falls: How many fell in a row.
        closing: Whether the processes there are not to be replaced.
        hurry: Set where a pause between two processes is to end.
    """

    def __init__(self) -> None:
        self.current: WorkerProcess | None = None
        self.successor: WorkerProcess | None = None
        self.falls = 0
        self.closing = False
        self.hurry = asyncio.Event()

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The lower, the sooner it can be done without: first who does not work yet, then the idle, last who cannot even answer."""
        current = self.current
        if current is None or not current.works:
            return False, False, 0
        return True, not current.answers, current.busy


SILENT: Final = 10.0
"""Seconds without a report after which a process is not healthy."""
ANSWER_IN: Final = 0.5
SOON: Final = 0.05


class ProcessTable:
    """All places and their processes; iterating gives the processes that have not ended.

    Attributes:
        spec: What each of them does.
        places: Where there is to be a process.
        closing: Whether the processes there are not to be replaced.
        ending: Set once all are asked to end.
        starting: How many processes are being started, whose numbers are not known yet.
        was_ready: Whether all places have been at work at once.

    Args:
        spec: What each of them does.
        places: How many there are to be.
        environment: Environment variables that they have besides ours.
    """

    def __init__(self, spec: WorkerSpec, places: int, environment: Mapping[str, str] | None = None) -> None:
        self.spec = spec
        self.places = [ProcessSlot() for _ in range(places)]
        self.closing: list[ProcessSlot] = []
        self.ending = asyncio.Event()
        self.starting = 0
        self.was_ready = False
        self._environment = environment
        self._retired: tuple[HandlerCounts, ...] = ()
        self._retired_counters: dict[str, float] = {}
        self._out_of_time = False
        self._log = structlog.get_logger("streamops")

    def __iter__(self) -> Iterator[WorkerProcess]:
        for place in (*self.places, *self.closing):
            for process in (place.current, place.successor):
                if process is not None and not process.exited.is_set():
                    yield process

    @property
    def figures(self) -> tuple[HandlerCounts, ...]:
        """What all processes did, those included that have ended."""
        return total([*self._retired, *(one for process in self for one in process.report.figures)])

    @property
    def counters(self) -> dict[str, float]:
        """What all processes counted besides, those included that have ended."""
        return _added(self._retired_counters, *(process.report.counters for process in self))

    @property
    def ready(self) -> bool:
        """Whether a process works in every place."""
        return all(place.current is not None and place.current.works for place in self.places)

    @property
    def healthy(self) -> bool:
        """Whether all processes have reported of late, and not every one has fallen."""
        processes = list(self)
        return (bool(processes) or not self.places) and all(one.silence <= SILENT for one in processes)

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Processes that work and were not asked to end, the eldest first."""
        working = (one for one in self if one.works and not one.told)
        return sorted(working, key=lambda one: one.began)

    @property
    def size(self) -> tuple[int, int, int]:
        """How many processes there are to be, how many there are, and how many of them work."""
        return len(self.places), len(list(self)), len(self.at_work)

    async def ask_all(self) -> None:
        """Hear from all who is busy now; who does not answer at once has no time for it."""
        asking = [asyncio.create_task(process.asked()) for process in self]
        if asking:
            _, silent = await asyncio.wait(asking, timeout=ANSWER_IN)
            for task in silent:
                task.cancel()

    async def start(self, place: ProcessSlot) -> WorkerProcess | None:
        """Start a process for a place; None if the system starts none."""
        self.starting += 1
        try:
            process = await WorkerProcess.start(self._spec_of(place), self._environment)
        except OSError as error:
            self._log.error("worker cannot be started", why=str(error))
            return None
        finally:
            self.starting -= 1
        if self._out_of_time:
            process.kill()
        elif self.ending.is_set() or place.closing:
            # It was being started when the others were told.
            process.drain()
        return process

    def _spec_of(self, place: ProcessSlot) -> WorkerSpec:
        """What a process of a place is to do: a successor takes over the socket, and what waits in its queue."""
        if not self.spec.sockets or place not in self.places:
            return self.spec
        return replace(self.spec, sockets=(self.spec.sockets[self.places.index(place)],))

    async def find_connection(self) -> ConnectionOptions:
        """The server that is named on the command line, or the one that a worker says its application names."""
        while self.spec.connection is None:
            for process in self:
                if process.connection is not None:
                    return process.connection
            await asyncio.sleep(SOON)
        return self.spec.connection

    def retire(self, process: WorkerProcess) -> None:
        """Keep what a process counted that has ended, so that no counter falls."""
        self._retired = total([*self._retired, *at_rest(process.report.figures)])
        self._retired_counters = _added(self._retired_counters, process.report.counters)

    async def see_off(self, old: WorkerProcess) -> None:
        """Have a process drained, and ended where it takes too long."""
        old.drain()
        try:
            async with asyncio.timeout(grace_of(self.spec).total_seconds()):
                await old.wait()
        except TimeoutError:
            self._end_by_force(old)
            await old.wait()

    def drain(self) -> None:
        """Tell all to finish what they have begun, and end."""
        for process in self:
            process.drain()

    def kill(self) -> None:
        """End all at once, those being started too."""
        self._out_of_time = True
        for process in self:
            self._end_by_force(process)

    def _end_by_force(self, process: WorkerProcess) -> None:
        self._log.warning("worker ended by force", pid=process.pid, worker_id=process.report.worker_id)
        process.kill()


def _added(*counters: Mapping[str, float]) -> dict[str, float]:
    """Numbers added up by their names."""
    sums: dict[str, float] = {}
    for one in counters:
        for name, value in one.items():
            sums[name] = sums.get(name, 0) + value
    return sums
