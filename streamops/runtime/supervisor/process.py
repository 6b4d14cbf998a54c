"""One worker process, as its parent sees it."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

from msgspec import DecodeError
from msgspec.structs import replace

from streamops.model.workers import WorkerState
from streamops.runtime.supervisor.orders import Orders, Report, decode_report, encode_orders

_MODULE = "streamops.runtime.supervisor.child"


class WorkerProcess:
    """A running worker process.

    Attributes:
        pid: Its number.
        report: What it said last.
        began: When it was started, on the monotonic clock.
        ready: Set once it works.
        exited: Set once it has ended.
        exit_code: What it ended with; negative for a signal; none while it runs.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.pid = process.pid
        self.report = Report()
        self.began = time.monotonic()
        self.ready = asyncio.Event()
        self.exited = asyncio.Event()
        self.exit_code: int | None = None
        self._process = process
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def start(cls, orders: Orders, environment: Mapping[str, str] | None = None) -> "WorkerProcess":
        """Start a process and give it its orders.

        Args:
            orders: What it is to do.
            environment: Environment variables that it has besides ours.
        """
        reading, writing = os.pipe()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            # A folder named like this package must not be taken for it.
            "-P",
            "-m",
            _MODULE,
            env={**os.environ, **(environment or {})},
            stdin=asyncio.subprocess.PIPE,
            pass_fds=(writing,),
            # A Ctrl-C is meant for the parent, which drains its workers.
            start_new_session=True,
        )
        os.close(writing)
        one = cls(process)
        assert process.stdin is not None  # noqa: S101 - it was asked for
        process.stdin.write(encode_orders(replace(orders, report_fd=writing)))
        one._tasks = [asyncio.create_task(one._listen(reading)), asyncio.create_task(one._wait())]
        return one

    @property
    def lived(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self.began

    def drain(self) -> None:
        """Tell it to finish what it has begun, and end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._signal(signal.SIGKILL)

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
                    self.report = decode_report(line)
                if self.report.state is not WorkerState.STARTING:
                    self.ready.set()
        finally:
            transport.close()

    async def _wait(self) -> None:
        """Notice its end. Its last report may come after it."""
        code = await self._process.wait()
        await asyncio.wait([self._tasks[0]], timeout=1)
        if self._process.stdin is not None:
            self._process.stdin.close()
        self.exit_code = code
        self.exited.set()
