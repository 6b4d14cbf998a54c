"""One worker process, as its parent sees it."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import ClassVar, Final

from msgspec import DecodeError
from msgspec.structs import replace

from streamops.model.workers import WorkerState
from streamops.runtime.supervisor.spec import Report, WorkerSpec, decode_report, encode_spec
from streamops.wire.options import ConnectionOptions

ASK: Final = b"\n"
_MODULE = "streamops.runtime.supervisor.child"


class WorkerProcess:
    """A running worker process.

    Attributes:
        pid: Its number.
        interpreter: What runs it.
        report: What it said last.
        connection: The server that its application names; none where it did not say so.
        silence: Seconds since then, of those in which it was listened to; none are counted before its first report.
        told: Whether it was told to end.
        began: When it was started, on the monotonic clock.
        ready: Set once it works.
        exited: Set once it has ended.
        exit_code: What it ended with; negative for a signal; none while it runs.
    """

    interpreter: ClassVar[str] = sys.executable

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pid = process.pid
        self.report = Report()
        self.connection: ConnectionOptions | None = None
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
                # Whoever may write into the current directory would have their modules run in place of ours.
                "-P",
                "-m",
                _MODULE,
                env={**os.environ, **(environment or {})},
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(writing,),
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

    def _hear(self, report: Report) -> None:
        """Take what it says; one that fails says no more than why, and has done what it has done."""
        self.silence = 0.0
        if report.asked >= self._asked:
            self._heard.set()
        self.connection = report.connection or self.connection
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
