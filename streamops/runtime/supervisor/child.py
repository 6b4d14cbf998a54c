"""``python -m streamops.runtime.supervisor.child``: one worker process; its spec comes through standard input."""

import asyncio
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from msgspec.structs import replace

from streamops.errors import ExitCode, SettingsError, StreamopsError
from streamops.model.pools import WorkerState
from streamops.runtime.app import Streamops
from streamops.runtime.handlers import Handler
from streamops.runtime.loading import application_directories, load_app, log_events
from streamops.runtime.supervisor.spec import (
    REPORT_EVERY,
    Recycled,
    StartFailure,
    WorkerReport,
    WorkerSpec,
    decode_spec,
    encode_report,
)
from streamops.service.processes import configure_logs, end_process, runner

SOON: Final = 0.02
"""Seconds between two looks while it starts, or while a report is half sent."""
LAST_WORD: Final = 1.0
"""Seconds that the parent has to read the last report."""
IDLE_EVERY: Final = 0.25
IDLE_LOOKS: Final = 3
STATM: Final = Path("/proc/self/statm")


Begin = Callable[[WorkerSpec, "Channel", int, int], Coroutine[Any, Any, None]]


def main() -> int:
    """Run an application's worker; the exit code."""
    return run_child(_begin)


def run_child(begin: Begin) -> int:
    """Read the spec from standard input and do its work; the exit code.

    Args:
        begin: Makes the work from the spec, the channel for reports, the descriptor of standard input, and how many
            reports the parent has requested by now.
    """
    stdin = _set_aside(0)
    line = _first_line(stdin)
    spec = decode_spec(line)
    os.set_inheritable(spec.report_fd, False)  # noqa: FBT003 - it takes no name
    channel = Channel(spec.report_fd)
    configure_logs(spec.log_format, spec.log_level)
    try:
        # uvloop is imported before the application's directory is on the module path.
        run = runner()
        run(begin(spec, channel, stdin, line.count(b"\n") - 1))
    except StreamopsError as error:
        return _report_failure(channel, error)
    finally:
        channel.flush(LAST_WORD)
    return ExitCode.DONE


def _begin(spec: WorkerSpec, channel: "Channel", stdin: int, asked: int) -> Coroutine[Any, Any, None]:
    app = _prepared(load_app(spec.app), spec)
    if spec.tell_connection or spec.tell_directories:
        connection = app.connection if spec.tell_connection else None
        directories = application_directories() if spec.tell_directories else ()
        channel.send(WorkerReport(connection=connection, directories=directories))
    return _work(app, spec, channel, stdin, asked)


class Channel:
    """Sends reports to the parent, and never waits for it: it may be slow, stopped or gone.

    Attributes:
        waiting: The rest of a report that the pipe has no room for.
    """

    def __init__(self, descriptor: int) -> None:
        self.waiting = b""
        self._descriptor = descriptor
        os.set_blocking(descriptor, False)

    def send(self, report: WorkerReport) -> None:
        """Send a report, or drop it if the one before is not wholly sent; the next one has all it says."""
        self.push()
        if not self.waiting:
            self.waiting = encode_report(report)
            self.push()

    def push(self) -> None:
        """Send the rest of a report, as far as the pipe has room."""
        try:
            while self.waiting:
                self.waiting = self.waiting[os.write(self._descriptor, self.waiting) :]
        except BlockingIOError:
            return
        except OSError:
            # The parent has closed its end.
            self.waiting = b""

    def flush(self, seconds: float) -> None:
        """Send the rest of a report, for at most this many seconds."""
        deadline = time.monotonic() + seconds
        while self.waiting and (left := deadline - time.monotonic()) > 0:
            select.select([], [self._descriptor], [], left)
            self.push()


class _Process:
    """This process's worker, from its start to its drain.

    Attributes:
        worker: The worker.
        asked: How often the parent has requested a report; the first requests may have come before this process listened.
    """

    def __init__(self, app: Streamops, spec: WorkerSpec, channel: Channel, stdin: int) -> None:
        self._spec = spec
        self._channel = channel
        self._stdin = stdin
        self._recycled: Recycled | None = None
        self.asked = 0
        self.worker = app.worker(spec.worker)

    async def run(self) -> None:
        """Work until asked to stop."""
        configure_logs(self._spec.log_format, self._spec.log_level, worker=self.worker.id)
        log_events(self.worker.events)
        loop = asyncio.get_running_loop()
        work = asyncio.ensure_future(self.worker.run())
        loop.add_signal_handler(signal.SIGTERM, self.worker.stop)
        loop.add_signal_handler(signal.SIGINT, self.worker.stop)
        listen_to_parent(self._stdin, loop, self.answer, self.worker.stop)
        idling = asyncio.create_task(self._end_when_idle()) if self._spec.until_idle else None
        while not work.done():
            self.report()
            soon = self.worker.state is WorkerState.STARTING or self._channel.waiting
            await asyncio.wait([work], timeout=SOON if soon else REPORT_EVERY)
            self._retire()
        if idling is not None:
            idling.cancel()
        self._channel.flush(LAST_WORD)
        self.report()
        await work

    def answer(self, requests: int) -> None:
        """Report to the parent, which has requested this many reports more."""
        self.asked += requests
        self.report()

    def report(self) -> None:
        """Report to the parent."""
        self._channel.push()
        if self._channel.waiting:
            return
        worker = self.worker
        self._channel.send(
            WorkerReport(
                worker_id=worker.id,
                state=worker.state,
                figures=worker.counts,
                memory=_memory(),
                recycled=self._recycled,
                asked=self.asked,
            )
        )

    async def _end_when_idle(self) -> None:
        """Stop once several looks in a row have found no work left; a failed look counts as work."""
        looks = 0
        while looks < IDLE_LOOKS:
            await asyncio.sleep(IDLE_EVERY)
            left = "all"
            if self.worker.state is not WorkerState.STARTING:
                with suppress(StreamopsError):
                    left = await self.worker.remaining_work(delayed=False)
            looks = 0 if left else looks + 1
        self._recycled = self._recycled or Recycled.IDLE
        self.worker.stop()

    def _retire(self) -> None:
        """Stop after ``max_jobs`` calls, or above ``max_memory``."""
        if self._recycled or self.worker.stopping:
            return
        spec = self._spec
        if spec.max_jobs is not None and sum(one.handled for one in self.worker.counts) >= spec.max_jobs:
            self._recycled = Recycled.MAX_JOBS
        elif spec.max_memory is not None and _memory() > spec.max_memory:
            self._recycled = Recycled.MAX_MEMORY
        if self._recycled:
            self.worker.stop()


async def _work(app: Streamops, spec: WorkerSpec, channel: Channel, stdin: int, asked: int) -> None:
    process = _Process(app, spec, channel, stdin)
    process.asked = asked
    try:
        await process.run()
    except StreamopsError as error:
        if process.worker.lingers:
            _end(channel, _report_failure(channel, error))
        raise
    if process.worker.lingers:
        # Handlers that cannot be cancelled would keep the process alive.
        _end(channel, ExitCode.DONE)


def _report_failure(channel: Channel, error: StreamopsError) -> int:
    channel.flush(LAST_WORD)
    channel.send(WorkerReport(failure=StartFailure(error.message, error.hint, error.exit_code)))
    return error.exit_code


def _end(channel: Channel, code: int) -> NoReturn:
    channel.flush(LAST_WORD)
    end_process(code)


def _prepared(app: Streamops, spec: WorkerSpec) -> Streamops:
    """An application with the spec's options instead of its own."""
    connection, names = spec.connection, spec.names
    if connection is None and spec.fallback is not None and not app.names_server:
        connection, names = spec.fallback
    if connection is not None:
        app.connection = connection
    if names is not None:
        app.adopt_names(names)
    if spec.only or spec.exclude:
        app.replace_handlers(*_selected(app.handlers, spec))
    if spec.concurrency is not None:
        app.replace_handlers(*(replace(handler, concurrency=spec.concurrency) for handler in app.handlers))
    return app


def _selected(handlers: Sequence[Handler], spec: WorkerSpec) -> list[Handler]:
    """The handlers that are to work."""
    names = [{handler.name, *(stream for stream, _ in handler.streams)} for handler in handlers]
    listed = ", ".join(
        f"{handler.name} ({', '.join(stream for stream, _ in handler.streams)})" for handler in handlers
    )
    for name in (*spec.only, *spec.exclude):
        if not any(name in known for known in names):
            raise SettingsError(f"no handler or stream is called {name}", f"There are {listed}.")
    only, exclude = set(spec.only), set(spec.exclude)
    selected = [
        handler
        for handler, known in zip(handlers, names, strict=True)
        if (not only or known & only) and not known & exclude
    ]
    if not selected:
        raise SettingsError("no handler is left to work", f"There are {listed}.")
    return selected


def _set_aside(descriptor: int) -> int:
    """Move a descriptor out of the reach of a handler's child processes, which read ``/dev/null`` instead."""
    kept = os.dup(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
    return kept


def _first_line(stdin: int) -> bytes:
    """The spec, and a newline for each request that came with it; unbuffered, as a thread reads on from there."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(stdin, 1 << 16)
        if not part:
            sys.exit(ExitCode.FAILED)
        line += part
    return line


def listen_to_parent(
    stdin: int, loop: asyncio.AbstractEventLoop, answer: Callable[[int], None], stop: Callable[[], None]
) -> None:
    """Call ``answer`` with the number of requests that came from the parent, and ``stop`` once it is gone."""

    def listen() -> None:
        with suppress(RuntimeError):
            while asked := os.read(stdin, 1024):
                loop.call_soon_threadsafe(answer, len(asked))
            loop.call_soon_threadsafe(stop)

    threading.Thread(target=listen, daemon=True).start()


def _memory() -> int:
    """Resident memory in bytes; zero if the system does not report it."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    sys.exit(main())
