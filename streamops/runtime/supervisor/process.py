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

REQUEST: Final = b"\n"


class WorkerProcess:
    """A running worker process.

    Attributes:
        pid: Its PID.
        interpreter: The Python that runs it.
        report: Its last report.
        connection: The server that its application names; None if it has not reported it.
        directories: The directories of its application's modules; empty if it has not reported them.
        silence: Seconds since its last report; zero before its first one.
        stopping: Whether it was asked to end.
        began: When it was started, on the monotonic clock.
        ready: Set once it works.
        exited: Set once it has ended.
        exit_code: Its exit code, negative for a signal; None while it runs.
    """

    interpreter: ClassVar[str] = sys.executable

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pid = process.pid
        self.report = WorkerReport()
        self.connection: ConnectionOptions | None = None
        self.directories: tuple[str, ...] = ()
        self.silence = 0.0
        self.stopping = False
        self.began = time.monotonic()
        self.ready = asyncio.Event()
        self.exited = asyncio.Event()
        self.exit_code: int | None = None
        self._process = process
        self._requests = 0
        self._answered = asyncio.Event()
        self._answered.set()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def start(cls, spec: WorkerSpec, environment: Mapping[str, str] | None = None) -> "WorkerProcess":
        """Start a process and send it its spec.

        Args:
            spec: What it does.
            environment: Environment variables that it has besides ours.

        Raises:
            OSError: The system cannot start a process.
        """
        reading, writing = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                cls.interpreter,
                # Without it, modules in the current directory would be imported instead of ours.
                "-P",
                "-m",
                spec.module,
                env={**os.environ, **(environment or {})},
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(writing, *spec.sockets),
                # Ctrl-C is meant for the parent, which drains its workers.
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
        """How many calls were in flight at its last report."""
        return sum(one.in_flight for one in self.report.figures)

    @property
    def answers(self) -> bool:
        """Whether it has answered the last request; a handler that blocks the event loop keeps it from that."""
        return self._answered.is_set()

    @property
    def works(self) -> bool:
        """Whether it works, or would if its pool were not paused."""
        return self.ready.is_set() and self.report.state in (WorkerState.RUNNING, WorkerState.PAUSED)

    @property
    def lived(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self.began

    async def request_report(self) -> None:
        """Request a report and wait for it, without a limit."""
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        self._requests += 1
        self._answered.clear()
        with suppress(OSError):
            self._process.stdin.write(REQUEST)
        await self._answered.wait()

    def drain(self) -> None:
        """Have it finish its entries in flight, and end."""
        self.stopping = True
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self._signal(signal.SIGKILL)

    async def becomes_ready(self, seconds: float) -> bool:
        """Wait until it works, has ended, or takes too long; whether it works."""
        works = asyncio.create_task(self.ready.wait())
        ends = asyncio.create_task(self.exited.wait())
        await asyncio.wait([works, ends], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (works, ends):
            task.cancel()
        return self.ready.is_set() and not self.exited.is_set()

    def add_silence(self, seconds: float) -> None:
        """Count seconds in which it could have reported."""
        if self.report.worker_id:
            self.silence += seconds

    async def wait(self) -> int:
        """Wait for its end; its exit code."""
        await self.exited.wait()
        assert self.exit_code is not None  # noqa: S101 - set before
        return self.exit_code

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def _listen(self, descriptor: int) -> None:
        """Receive its reports."""
        reader = asyncio.StreamReader(limit=1 << 22)
        pipe = os.fdopen(descriptor, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while line := await reader.readline():
                with suppress(DecodeError):
                    self._receive(decode_report(line))
                if self.report.state is not WorkerState.STARTING:
                    self.ready.set()
        finally:
            transport.close()

    def _receive(self, report: WorkerReport) -> None:
        """Apply a report; a failure comes without counts, so those of the last report stay."""
        self.silence = 0.0
        if report.asked >= self._requests:
            self._answered.set()
        self.connection = report.connection or self.connection
        self.directories = report.directories or self.directories
        self.report = replace(self.report, failure=report.failure) if report.failure else report

    async def _wait(self) -> None:
        """Notice its end; its last report may come after that."""
        code = await self._process.wait()
        listening = self._tasks[0]
        await asyncio.wait([listening], timeout=1)
        # A child that it left behind may hold the pipe open.
        listening.cancel()
        if self._process.stdin is not None:
            self._process.stdin.close()
        self.exit_code = code
        self.exited.set()


class ProcessSlot:
    """A place for one worker process, and for its successor during a reload.

    Attributes:
        current: The running process; None between two.
        successor: The process that a reload started, until it is the current one; None if there is no reload.
        crashes: How many processes have crashed in a row.
        closing: Whether its processes are drained and not replaced.
        wake: Set to end the pause between two processes.
    """

    def __init__(self) -> None:
        self.current: WorkerProcess | None = None
        self.successor: WorkerProcess | None = None
        self.crashes = 0
        self.closing = False
        self.wake = asyncio.Event()

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Its place in the order of scaling down, lowest first: not ready, idle, busy, and so busy that it does not answer."""
        current = self.current
        if current is None or not current.works:
            return False, False, 0
        return True, not current.answers, current.busy


SILENT: Final = 10.0
"""Seconds without a report after which a process is not healthy."""
ANSWER_IN: Final = 0.5
"""Seconds to wait for the reports that were requested."""


class ProcessTable:
    """All slots and their processes; iterating gives the processes that have not ended.

    Attributes:
        spec: What each process does.
        slots: The slots.
        closing: Slots whose processes are drained and not replaced.
        ending: Set once all processes are to end.
        starting: How many processes are being started, whose PIDs are not known yet.
        was_ready: Whether all slots have been ready at the same time.

    Args:
        spec: What each process does.
        slots: How many slots.
        environment: Environment variables that they have besides ours.
    """

    def __init__(self, spec: WorkerSpec, slots: int, environment: Mapping[str, str] | None = None) -> None:
        self.spec = spec
        self.slots = [ProcessSlot() for _ in range(slots)]
        self.closing: list[ProcessSlot] = []
        self.ending = asyncio.Event()
        self.starting = 0
        self.was_ready = False
        self._environment = environment
        self._retired: tuple[HandlerCounts, ...] = ()
        self._retired_counters: dict[str, float] = {}
        self._killing = False
        self._log = structlog.get_logger("streamops")

    def __iter__(self) -> Iterator[WorkerProcess]:
        for slot in (*self.slots, *self.closing):
            for process in (slot.current, slot.successor):
                if process is not None and not process.exited.is_set():
                    yield process

    @property
    def figures(self) -> tuple[HandlerCounts, ...]:
        """The handlers' counts of all processes, ended ones included."""
        return total([*self._retired, *(one for process in self for one in process.report.figures)])

    @property
    def counters(self) -> dict[str, float]:
        """Other counters of all processes, ended ones included."""
        return _added(self._retired_counters, *(process.report.counters for process in self))

    @property
    def ready(self) -> bool:
        """Whether a process works in every slot."""
        return all(slot.current is not None and slot.current.works for slot in self.slots)

    @property
    def healthy(self) -> bool:
        """Whether processes run, and all of them have reported lately."""
        processes = list(self)
        return (bool(processes) or not self.slots) and all(one.silence <= SILENT for one in processes)

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Processes that work and were not asked to end, the oldest first."""
        working = (one for one in self if one.works and not one.stopping)
        return sorted(working, key=lambda one: one.began)

    @property
    def size(self) -> tuple[int, int, int]:
        """How many processes there should be, how many there are, and how many of them work."""
        return len(self.slots), len(list(self)), len(self.at_work)

    async def request_reports(self) -> None:
        """Have all processes report how busy they are; wait a moment for the answers."""
        requests = [asyncio.create_task(process.request_report()) for process in self]
        if requests:
            _, unanswered = await asyncio.wait(requests, timeout=ANSWER_IN)
            for task in unanswered:
                task.cancel()

    async def start(self, slot: ProcessSlot) -> WorkerProcess | None:
        """Start a process for a slot; None if the system cannot."""
        self.starting += 1
        try:
            process = await WorkerProcess.start(self._spec_of(slot), self._environment)
        except OSError as error:
            self._log.error("worker cannot be started", why=str(error))
            return None
        finally:
            self.starting -= 1
        if self._killing:
            process.kill()
        elif self.ending.is_set() or slot.closing:
            # The others were stopped while it was being started.
            process.drain()
        return process

    def _spec_of(self, slot: ProcessSlot) -> WorkerSpec:
        """The spec for a process of a slot, which has one listening socket: a successor inherits it with its backlog."""
        if not self.spec.sockets or slot not in self.slots:
            return self.spec
        return replace(self.spec, sockets=(self.spec.sockets[self.slots.index(slot)],))

    @property
    def connection(self) -> ConnectionOptions | None:
        """The server that the spec names, or that a process reports for its application; None if neither does."""
        reported = (process.connection for process in self if process.connection is not None)
        return self.spec.connection or next(reported, None)

    def retire(self, process: WorkerProcess) -> None:
        """Keep the counts of a process that has ended, so that no counter falls."""
        self._retired = total([*self._retired, *at_rest(process.report.figures)])
        self._retired_counters = _added(self._retired_counters, process.report.counters)

    async def stop(self, process: WorkerProcess) -> None:
        """Drain a process, and kill it if that takes longer than the grace."""
        process.drain()
        try:
            async with asyncio.timeout(grace_of(self.spec).total_seconds()):
                await process.wait()
        except TimeoutError:
            self._kill(process)
            await process.wait()

    def drain(self) -> None:
        """Have all processes finish their entries in flight, and end."""
        for process in self:
            process.drain()

    def kill(self) -> None:
        """Kill all processes, and those that are being started."""
        self._killing = True
        for process in self:
            self._kill(process)

    def _kill(self, process: WorkerProcess) -> None:
        self._log.warning("worker killed", pid=process.pid, worker_id=process.report.worker_id)
        process.kill()


def _added(*counters: Mapping[str, float]) -> dict[str, float]:
    """The sums of several counters by name."""
    sums: dict[str, float] = {}
    for one in counters:
        for name, value in one.items():
            sums[name] = sums.get(name, 0) + value
    return sums
