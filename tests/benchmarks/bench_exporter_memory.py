"""Whether a day of scraping leaves memory flat: ``python -m tests.benchmarks.bench_exporter_memory``.

First invented observations at the pace of a fake clock, every 15 s for 24 h, with streams and consumers that come and
go. Then collections of a real server, back to back, with the same churn: what collecting itself keeps. Beside resident
memory stand the blocks in use without what bounded caches hold, which take their time to fill and are emptied for it.
"""

import asyncio
import gc
import sys
from pathlib import Path
from time import monotonic, process_time

from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.benchmarks.fast_forward import CONSUMERS, GROUPS, INTERVAL, PER_SCRAPE, blocks_in_use, fast_forward
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

STREAMS = 100
SCRAPES = 5_760
EVERY = 480
"""Scrapes between two figures: two hours."""
COLLECTIONS = 2_400
PAGE = 4096
MEGABYTE = 1 << 20


def main() -> None:
    """Run both parts."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it takes minutes
    _forward()
    asyncio.run(_collect())


def resident() -> float:
    """Resident memory of this process, in megabytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / MEGABYTE


def _forward() -> None:
    print(f"{STREAMS * len(GROUPS)} groups, invented, {SCRAPES} scrapes, one in {INTERVAL.seconds} s")
    started, series = process_time(), 0
    sizes = []
    for number, page in fast_forward(STREAMS, SCRAPES):
        if number % EVERY == EVERY - 1:
            series = page.plain().count(b"\n") - page.plain().count(b"\n#")
            sizes.append(resident())
            hours = (number + 1) * INTERVAL.seconds / 3600
            print(f"  {hours:4.0f} h  {sizes[-1]:7.1f} MB  {blocks_in_use():8,} blocks  {series} lines")
    _sum_up(sizes)
    print(f"  {(process_time() - started) / SCRAPES * 1000:.1f} ms of CPU a scrape, in both formats")


async def _collect() -> None:
    print(f"{STREAMS * len(GROUPS)} groups, {COLLECTIONS} collections of a real server")
    with RunningServer(find_programs()[-1]) as server:
        for place in range(STREAMS):
            _make(server, place, 0)
        async with await Console.open(server.options, Watch(deep=True)) as console:
            started, sizes = monotonic(), []
            for number in range(COLLECTIONS):
                place = number % STREAMS
                server.command("DEL", _name(place, number // STREAMS))
                _make(server, place, number // STREAMS + 1)
                if number % 10 == 0:
                    await console.discover()
                await console.observe()
                if number % EVERY == EVERY - 1:
                    sizes.append(resident())
                    print(f"  {number + 1:5d} collections  {sizes[-1]:7.1f} MB  {blocks_in_use():8,} blocks")
            _sum_up(sizes)
            print(
                f"  {(monotonic() - started) / COLLECTIONS * 1000:.1f} ms of wall a collection, churn included"
            )


def _name(place: int, generation: int) -> str:
    return f"orders:{place}:{generation}"


def _make(server: RunningServer, place: int, generation: int) -> None:
    name = _name(place, generation)
    with server.client.pipeline(transaction=False) as pipe:
        for _ in range(PER_SCRAPE):
            pipe.xadd(name, {"a": "1"})
        for group in GROUPS:
            pipe.xgroup_create(name, group, id="0")
            for number in range(CONSUMERS):
                pipe.xreadgroup(group, f"pod-{number}-{generation}", {name: ">"}, count=3)
        pipe.execute()


def _sum_up(sizes: list[float]) -> None:
    print(
        f"  after the first figure: {max(sizes) - sizes[0]:+.1f} MB at most, {sizes[-1] - sizes[0]:+.1f} MB at the end"
    )


if __name__ == "__main__":
    main()
