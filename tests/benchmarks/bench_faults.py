"""What six faults cost: entries that are not done, or done twice.

    python -m tests.benchmarks.bench_faults [--server LABEL] [--entries N] [--seconds S] [--lasts S]

For each fault a server of its own with an append-only file, three worker processes with eight calls at once, each behind a
network of its own, and a publisher that sends N messages in S seconds and sends again what was not answered. The fault comes
after a third of them. A handler works for 5 ms and then writes its number into a file; the idempotency key is that number.
Prints a line a fault: numbers that were published and never done, numbers that were done more than once, and how long after the
last message the last one was done. ``FLUSHALL`` removes messages: those that were published before it are counted as removed.
A black hole that outlasts the lease can have the work of its first moments done again: no other worker can know of it.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

import redis

from streamops.runtime import Streamops, WorkerOptions
from streamops.service.processes import module_command, module_environment
from streamops.wire.options import ConnectionOptions
from tests.benchmarks.output import say
from tests.chaos.proxy import Proxy
from tests.support.programs import find_programs
from tests.support.runtime.working import until
from tests.support.servers import RunningServer

STREAM: Final = "orders"
WORKERS: Final = 3
LEASE: Final = 3.0
PATIENCE: Final = 60.0
"""Seconds after the last message in which all have to be done."""
FAULTS: Final = ("kill -9", "SIGTERM", "cut", "black hole", "restart", "FLUSHALL")


def work(socket: str, book: str) -> None:
    """A worker process, until SIGTERM."""
    file = os.open(book, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    app = Streamops(ConnectionOptions(addresses=(), socket_path=socket, timeout=timedelta(seconds=1)))

    @app.handler(STREAM, group="billing", start="all", concurrency=8, key="number", lease=LEASE, timeout=2.0)
    async def bill(number: int) -> None:
        await asyncio.sleep(0.005)
        os.write(file, f"{number}\n".encode())

    app.run(WorkerOptions(grace=timedelta(seconds=5)))


class Worker:
    """A worker process and its network."""

    def __init__(self, proxy: Proxy, book: Path) -> None:
        self.proxy = proxy
        words = module_command(__spec__.name, "--work", str(proxy.path), str(book))
        self.process = subprocess.Popen(words, env=module_environment(), stdin=subprocess.DEVNULL)

    async def end(self, number: signal.Signals) -> None:
        """Send a signal, and wait for the end."""
        self.process.send_signal(number)
        await asyncio.to_thread(self.process.wait)


@asynccontextmanager
async def working(server: RunningServer, directory: Path, book: Path) -> AsyncIterator[list[Worker]]:
    """Three workers; those there are at the end are killed."""
    async with AsyncExitStack() as stack:
        proxies = [Proxy(server.socket_path, directory / f"{number}.sock") for number in range(WORKERS)]
        workers = [Worker(await stack.enter_async_context(proxy), book) for proxy in proxies]
        try:
            yield workers
        finally:
            for worker in workers:
                await worker.end(signal.SIGKILL)


async def strike(fault: str, server: RunningServer, workers: list[Worker], book: Path, lasts: float) -> None:
    """Do it, and what comes after it."""
    first = workers[0]
    match fault:
        case "kill -9" | "SIGTERM":
            await first.end(signal.SIGKILL if fault == "kill -9" else signal.SIGTERM)
            workers[0] = Worker(first.proxy, book)
        case "cut":
            for worker in workers:
                worker.proxy.cut()
        case "black hole":
            first.proxy.hole()
            await asyncio.sleep(lasts)
            first.proxy.resume()
        case "restart":
            server.kill()
            await asyncio.sleep(lasts)
            await asyncio.to_thread(server.restart)
        case "FLUSHALL":
            await asyncio.to_thread(server.command, "FLUSHALL")


async def publish(server: RunningServer, number: int) -> None:
    """Add one message; what was not answered is sent again, and may come twice."""
    while True:
        try:
            await asyncio.to_thread(server.command, "XADD", STREAM, "*", "number", number)
        except redis.ConnectionError:
            await asyncio.sleep(0.2)
        else:
            return


def numbers(book: Path) -> Counter[int]:
    """How often each was done."""
    return Counter(int(line) for line in book.read_text().split()) if book.exists() else Counter()


async def scenario(fault: str, server: RunningServer, directory: Path, given: argparse.Namespace) -> str:
    """One fault; its line."""
    book, entries, seconds = directory / "book", given.entries, given.seconds
    async with working(server, directory, book) as workers:
        await until(lambda: server.command("EXISTS", STREAM))
        began, removed, striking = time.monotonic(), 0, None
        for number in range(entries):
            await asyncio.sleep(max(0.0, began + number * seconds / entries - time.monotonic()))
            if number == entries // 3:
                removed = number if fault == "FLUSHALL" else 0
                striking = asyncio.create_task(strike(fault, server, workers, book, given.lasts))
                if removed:
                    await striking
            await publish(server, number)
        published = time.monotonic()
        assert striking is not None
        await striking
        wanted = set(range(removed, entries))
        with suppress(TimeoutError):
            await until(lambda: wanted <= numbers(book).keys(), PATIENCE)
        took = time.monotonic() - published
        await asyncio.sleep(LEASE + 1)  # what is done a second time is claimed by then
        done = numbers(book)
    lost = f", {removed - sum(number < removed for number in done)} removed by it" if removed else ""
    missing = len(wanted - done.keys())
    twice = sum(times > 1 for times in done.values())
    return (
        f"{fault:10}  {missing} not done, {twice} done twice{lost}; the last {took:.1f} s after its message"
    )


def main() -> None:
    """Each fault in turn; ends with 1 where an entry was not done, or done twice."""
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", default="redis-7.0", help="this version, as redis-8.0")
    parser.add_argument("--entries", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=6.0, help="how long they are published")
    parser.add_argument(
        "--lasts", type=float, default=2.0, help="how long a black hole lasts, or the server is down"
    )
    args = parser.parse_args()
    program = next(one for one in find_programs() if one.label == args.server)
    say(f"{program.label}: {args.entries} messages in {args.seconds:g} s, {WORKERS} workers")
    wrong = False
    for fault in FAULTS:
        with tempfile.TemporaryDirectory(prefix="streamops-faults-") as directory:
            durable = ("--dir", directory, "--appendonly", "yes", "--appendfsync", "always")
            with RunningServer(program, *durable) as server:
                line = asyncio.run(scenario(fault, server, Path(directory), args))
        say(line)
        wrong |= "  0 not done, 0 done twice" not in line
    sys.exit(wrong)


if __name__ == "__main__":
    main()
