"""The runtime beside the libraries of today and the bare loop, all in one run, interleaved, on one server.

    python -m tests.benchmarks.bench_runtime [--only drain,two,batch,latency,burst] [--peers faststream,taskiq]
        [--rounds N] [--server redis-7.0] [--scale 1.0]

Peers that are not installed are left out: ``make peers``, and ``make .venv-peers-bench/.installed`` for the others.
Every contender runs in processes of its own with hiredis and uvloop where it takes them, 32 handlers at once, and
entries of 64 bytes in its own envelope; `measuring` says how the time is taken. The reference is a bare redis-py
loop; ratios are to its rate in the same round, and what is printed are medians over the rounds.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

import uvloop

from tests.benchmarks.peers.contenders import BARE, BARE_GUARDED, GUARDED, IN_BATCHES, OURS, Contender, chosen
from tests.benchmarks.peers.measuring import Bench, Drain
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

RATE, PACED = 200, 1_000
BURST, NAP, SLOTS = 5_000, 0.05, 32
IDEAL = BURST * NAP / SLOTS


def show_drains(
    server: RunningServer, contenders: Sequence[Contender], workers: int, rounds: int, scale: float
) -> None:
    """Rates of draining, and their ratio to the bare loop's with one worker in the same round."""
    taken: dict[str, list[tuple[Drain, float]]] = {one.name: [] for one in contenders}
    for _ in range(rounds):
        bare = Bench(server, BARE).drain(1, int(BARE.entries * scale))
        for one in contenders:
            if one is BARE and workers == 1:
                taken[one.name].append((bare, 1.0))
                continue
            drain = Bench(server, one).drain(workers, int(one.entries * scale) * workers)
            taken[one.name].append((drain, drain.rate / bare.rate))
    for name, drains in taken.items():
        rate, cpu, memory = (middle(pick(drain) for drain, _ in drains) for pick in PICKS)
        ratio = middle(ratio for _, ratio in drains)
        print(
            f"  {name:22} {rate:9,.0f}/s   {ratio:6.3f} of bare   {cpu:7.1f} µs CPU   {memory:5.1f} MB",
            flush=True,
        )


PICKS: tuple[Callable[[Drain], float], ...] = (
    lambda drain: drain.rate,
    lambda drain: drain.cpu,
    lambda drain: drain.memory,
)


def show_latencies(server: RunningServer, contenders: Sequence[Contender], rounds: int) -> None:
    """From before sending to the handler, at 200 a second."""
    taken = {one.name: [Bench(server, one).latency(PACED, RATE) for _ in range(rounds)] for one in contenders}
    for name, latencies in taken.items():
        p50, p99 = middle(one.p50 for one in latencies), middle(one.p99 for one in latencies)
        print(f"  {name:22} p50 {p50:7.2f} ms   p99 {p99:7.2f} ms", flush=True)


def show_bursts(server: RunningServer, contenders: Sequence[Contender]) -> None:
    """5,000 entries of 50 ms each, 32 at once: how close to the ideal, and to a program that does nothing but sleep."""
    for one in contenders:
        bare = middle(uvloop.run(sleep_alone()) for _ in range(2))
        drain = Bench(server, one, SECONDS=NAP, SLOTS=SLOTS).drain(1, BURST)
        print(
            f"  {one.name:22} {drain.seconds:6.2f} s   {IDEAL / drain.seconds:5.3f} of ideal   "
            f"sleeping alone {bare:6.2f} s, {IDEAL / bare:5.3f}; {bare / drain.seconds:5.3f} of that",
            flush=True,
        )


async def sleep_alone() -> float:
    """Seconds that so many tasks take for as many naps and nothing else: what timers and the machine allow."""
    left = iter(range(BURST))

    async def nap() -> None:
        for _ in left:
            await asyncio.sleep(NAP)

    began = time.perf_counter()
    await asyncio.gather(*(nap() for _ in range(SLOTS)))
    return time.perf_counter() - began


def middle(values: Iterable[float]) -> float:
    """The median."""
    return statistics.median(values)


def main() -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="drain,two,batch,latency,burst")
    parser.add_argument("--peers", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--server", default="redis-7.0")
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args()
    only = given.only.split(",")
    peers = chosen([name for name in given.peers.lower().split(",") if name])
    several = tuple(peer for peer in peers if peer.name in {"repid", "dramatiq", "FastStream", "taskiq"})
    installed = [one for one in IN_BATCHES if one.python is not None]
    program = next(one for one in find_programs() if one.label == given.server)
    tables: dict[str, tuple[str, Callable[[RunningServer], None]]] = {
        "drain": (
            "drain, one worker, handler that does nothing",
            lambda server: show_drains(
                server, (BARE, OURS, BARE_GUARDED, GUARDED, *peers), 1, given.rounds, given.scale
            ),
        ),
        "two": (
            "drain, two workers",
            lambda server: show_drains(server, (BARE, OURS, *several), 2, given.rounds, given.scale),
        ),
        "batch": (
            "drain, one worker, batches of 100",
            lambda server: show_drains(server, (BARE, *installed), 1, given.rounds, given.scale),
        ),
        "latency": (
            f"end to end at {RATE} a second",
            lambda server: show_latencies(server, (BARE, OURS, *peers), 1),
        ),
        "burst": (
            f"burst of {BURST:,} x {NAP * 1e3:.0f} ms, {SLOTS} at once, ideal {IDEAL:.2f} s",
            lambda server: show_bursts(server, (OURS, *(peer for peer in peers if not peer.alone))),
        ),
    }
    with RunningServer(program) as server:
        for name, (title, show) in tables.items():
            if name in only:
                print(f"{title} ({program.label})", flush=True)
                show(server)


if __name__ == "__main__":
    main()
