"""Replaying against the floor: the same entries added by a bare pipelined XADD.

    python -m tests.benchmarks.bench_replay

Prints one line a server version: medians of both in one run, interleaved, and their ratio; the same with the plan's
own reading counted in; and how long one script call of 500 letters kept the server.
"""

import asyncio
import statistics
import sys
import time

from streamops.model.acting import Confirmation
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

LETTERS = 100_000
PIPELINE = 500
ROUNDS = 5
OWN = {"kind": "order", "body": "x" * 191}
"""Names and values of 200 bytes."""

ABOUT = {
    "_so_origin": "orders",
    "_so_origin_id": "1700000000000-0",
    "_so_group": "billing",
    "_so_consumer": "worker-1",
    "_so_reason": "max-deliveries",
    "_so_error": "timeout",
    "_so_deliveries": "5",
    "_so_failed_at": "2026-01-01T00:00:00.000Z",
}


def add_letters(running: RunningServer, stream: str, fields: dict[str, str]) -> float:
    """Seconds for adding them by pipelines."""
    pipeline = running.client.pipeline(transaction=False)
    started = time.perf_counter()
    for number in range(1, LETTERS + 1):
        pipeline.xadd(stream, fields)  # type: ignore[arg-type]  # redis-py's dictionaries are invariant
        if number % PIPELINE == 0:
            pipeline.execute()
    return time.perf_counter() - started


def calls(running: RunningServer) -> list[float]:
    """Milliseconds of each script call since the log was reset, as far as the log has them."""
    logged = running.command("SLOWLOG", "GET", 1000)
    return [entry[2] / 1000 for entry in logged if entry[3][0].startswith(b"EVAL")]


async def compare(running: RunningServer) -> None:
    """One line: ours, the floor, the ratios."""
    floor: list[float] = []
    planned: list[float] = []
    applied: list[float] = []
    spent: list[float] = []
    running.command("CONFIG", "SET", "slowlog-log-slower-than", 1000)
    running.command("CONFIG", "SET", "slowlog-max-len", 1000)
    async with await Console.open(running.options) as console:
        for _ in range(ROUNDS):
            running.flush()
            running.command("XGROUP", "CREATE", "orders", "billing", "$", "MKSTREAM")
            add_letters(running, "{orders}:dlq", OWN | ABOUT)
            floor.append(add_letters(running, "bare", OWN))
            running.command("SLOWLOG", "RESET")
            started = time.perf_counter()
            prepared = await console.prepare(ReplayIntent(queue="{orders}:dlq"))
            between = time.perf_counter()
            outcome = await console.apply(prepared, Confirmation(yes=True))
            planned.append(between - started)
            applied.append(time.perf_counter() - between)
            spent += calls(running)
            if outcome.applied != LETTERS or running.command("XLEN", "orders") != LETTERS:
                raise SystemExit(f"{running.label}: {outcome.applied} replayed")
    bare, mine, plan = (statistics.median(times) for times in (floor, applied, planned))
    sys.stdout.write(
        f"{running.label:12} replay {LETTERS / mine:9,.0f}/s, bare XADD {LETTERS / bare:9,.0f}/s, ratio {bare / mine:.2f};"
        f" with its plan {bare / (mine + plan):.2f}; one call {statistics.median(spent):.1f} ms,"
        f" 99 of 100 within {statistics.quantiles(spent, n=100)[-1]:.1f} ms\n"
    )


def main() -> None:
    """Run on every server found."""
    for program in find_programs():
        with RunningServer(program) as running:
            asyncio.run(compare(running))


if __name__ == "__main__":
    main()
