"""How long a safe trim of a million entries keeps others waiting, and how fast it goes.

A client of its own process sends PING after PING while the trim runs; the server's own log of slow commands says
what it spent on one at most. Run ``python -m tests.benchmarks.bench_trim [ENTRIES] [BYTES...]``.
"""

import asyncio
import multiprocessing
import sys
import time
from multiprocessing.connection import Connection

import redis

from streamops.model.acting import Actor, Confirmation, Environment, Limits, Outcome
from streamops.operations.console import Console
from streamops.operations.trim.intent import TrimIntent
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

ENTRIES = 1_000_000
SIZES = (200, 1_000)
FILL = """
for number = 1, ARGV[1] do redis.call('XADD', KEYS[1], '*', 'f', ARGV[2]) end
"""
STREAM = "big"


def ping(socket: str, pipe: Connection) -> None:
    """Ping until told to stop; send the waits, in milliseconds, the longest first."""
    client = redis.Redis(unix_socket_path=socket)
    client.ping()
    pipe.send("ready")
    waits = []
    while not pipe.poll():
        started = time.perf_counter()
        client.ping()
        waits.append((time.perf_counter() - started) * 1e3)
        time.sleep(0.0002)
    pipe.send(sorted(waits, reverse=True))


def add_entries_read_by_three(running: RunningServer, entries: int, size: int) -> None:
    """A stream that three groups have read and acknowledged to the end."""
    running.flush()
    for _ in range(0, entries, 1_000):
        running.command("EVAL", FILL, 1, STREAM, 1_000, "x" * size)
    for group in ("billing", "audit", "search"):
        running.command("XGROUP", "CREATE", STREAM, group, "$")


async def trim(running: RunningServer, intent: TrimIntent) -> tuple[float, Outcome]:
    """Plan and apply; seconds that the plan took, and the outcome."""
    async with await Console.open(
        running.options, actor=Actor(environment=Environment.DEVELOPMENT)
    ) as console:
        started = time.perf_counter()
        prepared = await console.prepare(intent, Limits(max_count=10**9))
        planned = time.perf_counter() - started
        return planned, await console.apply(prepared, Confirmation(yes=True))


def measure(running: RunningServer, entries: int, size: int, *, exact: bool) -> None:
    """Fill, trim while pinging, and print what it came to."""
    add_entries_read_by_three(running, entries, size)
    mine, theirs = multiprocessing.Pipe()
    pinger = multiprocessing.Process(target=ping, args=(str(running.socket_path), theirs), daemon=True)
    pinger.start()
    mine.recv()
    running.command("CONFIG", "SET", "slowlog-log-slower-than", 500)
    running.command("CONFIG", "SET", "slowlog-max-len", 10_000)
    running.command("SLOWLOG", "RESET")
    planned, outcome = asyncio.run(trim(running, TrimIntent(stream=STREAM, maxlen=1_000, exact=exact)))
    mine.send("stop")
    waits: list[float] = mine.recv()
    pinger.join()
    slowest = max((row[2] for row in running.command("SLOWLOG", "GET", 10_000)), default=0) / 1e3
    seconds = outcome.elapsed.total_seconds()
    print(
        f"{running.label:11} {entries:,} entries of {size:5,} bytes, {'exact' if exact else 'about':5}: "
        f"{outcome.applied:,} in {seconds:5.2f} s ({outcome.applied / seconds:9,.0f}/s), plan {planned:4.2f} s; "
        f"longest wait {waits[0]:5.2f} ms of {len(waits):,} pings, slowest command {slowest:5.2f} ms"
    )


def main() -> None:
    """Run on every server found."""
    numbers = [int(word) for word in sys.argv[1:]]
    for program in find_programs():
        with RunningServer(program) as running:
            for size in numbers[1:] or SIZES:
                for exact in (False, True):
                    measure(running, numbers[0] if numbers else ENTRIES, size, exact=exact)


if __name__ == "__main__":
    main()
