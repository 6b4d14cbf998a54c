"""``python -m streamops.runtime.supervisor.child``: one worker process, as its standard input orders."""

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from streamops.errors import ExitCode, StreamopsError
from streamops.model.workers import WorkerState
from streamops.runtime.app import Streamops, runner
from streamops.runtime.figures import figures_of
from streamops.runtime.loading import load_app
from streamops.runtime.logs import configure_logs, log_events
from streamops.runtime.supervisor.orders import (
    Failure,
    Orders,
    Recycled,
    Report,
    decode_orders,
    encode_report,
)
from streamops.runtime.worker import Worker

EVERY: Final = 1.0
STATM: Final = Path("/proc/self/statm")


def main() -> int:
    """Work as ordered; the exit code."""
    orders = decode_orders(_first_line())
    channel = _Channel(orders.report_fd)
    configure_logs(orders.log_format, orders.log_level)
    try:
        app = _prepared(load_app(orders.app), orders)
        runner()(_work(app, orders, channel))
    except StreamopsError as error:
        channel.send(Report(failure=Failure(error.message, error.hint, error.exit_code)))
        return error.exit_code
    return ExitCode.DONE


class _Channel:
    """Reports to the parent; where that is gone, to nobody."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, report: Report) -> None:
        with suppress(OSError):
            os.write(self._descriptor, encode_report(report))


class _Process:
    """This process's worker, from its start to its drain."""

    def __init__(self, app: Streamops, orders: Orders, channel: _Channel) -> None:
        self._orders = orders
        self._channel = channel
        self._recycled: Recycled | None = None
        self.worker = app.worker(orders.worker)

    async def run(self) -> None:
        """Work until told to stop."""
        configure_logs(self._orders.log_format, self._orders.log_level, worker=self.worker.id)
        log_events(self.worker.events)
        loop = asyncio.get_running_loop()
        work = asyncio.ensure_future(self.worker.run())
        loop.add_signal_handler(signal.SIGTERM, self.worker.stop)
        loop.add_signal_handler(signal.SIGINT, self.worker.stop)
        threading.Thread(target=_watch_parent, args=(loop, self.worker), daemon=True).start()
        while not work.done():
            self.report()
            await asyncio.wait(
                [work], timeout=EVERY if self.worker.state is not WorkerState.STARTING else 0.02
            )
            self._retire()
        self.report()
        await work

    def report(self) -> None:
        """Tell the parent how things stand."""
        worker = self.worker
        self._channel.send(
            Report(
                worker_id=worker.id,
                state=worker.state,
                figures=figures_of(worker),
                memory=_memory(),
                recycled=self._recycled,
            )
        )

    def _retire(self) -> None:
        """Stop where enough was done, or too much memory is held."""
        if self._recycled or self.worker.stopping:
            return
        orders = self._orders
        if (
            orders.max_jobs is not None
            and sum(one.handled for one in figures_of(self.worker)) >= orders.max_jobs
        ):
            self._recycled = Recycled.MAX_JOBS
        elif orders.max_memory is not None and _memory() > orders.max_memory:
            self._recycled = Recycled.MAX_MEMORY
        if self._recycled:
            self.worker.stop()


async def _work(app: Streamops, orders: Orders, channel: _Channel) -> None:
    await _Process(app, orders, channel).run()


def _prepared(app: Streamops, orders: Orders) -> Streamops:
    """An application with what the command line says instead of what it declares."""
    if orders.connection is not None:
        app.connection = orders.connection
    if orders.concurrency is not None:
        app.declare(*(replace(handler, concurrency=orders.concurrency) for handler in app.handlers))
    return app


def _first_line() -> bytes:
    """The orders; read without a buffer, so that the thread that watches sees the end of the pipe."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 1 << 16)
        if not part:
            sys.exit(ExitCode.FAILED)
        line += part
    return line


def _watch_parent(loop: asyncio.AbstractEventLoop, worker: Worker) -> None:
    """Drain once the parent is gone, however it went."""
    while os.read(0, 1024):
        pass
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(worker.stop)


def _memory() -> int:
    """Resident memory in bytes; zero where the system does not tell it."""
    try:
        return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    sys.exit(main())
