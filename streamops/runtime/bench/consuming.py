"""How fast workers drain a stream: entries that are all there, typed, handled by doing nothing, acknowledged.

The group stands at the stream's end while the workers start. It is set back to the beginning, and one more entry
wakes them: all of them begin at once, however long each took to start.
"""

import asyncio
import time
from datetime import timedelta
from typing import Final

import msgspec

from streamops.errors import Unreachable
from streamops.model.bench import BenchPlan, Figure
from streamops.runtime.app import Streamops
from streamops.runtime.bench.bodies import event
from streamops.runtime.bench.place import GROUP, Place
from streamops.runtime.bench.processes import worker_processes
from streamops.runtime.bench.producing import publish_all
from streamops.runtime.bench.telling import Tell
from streamops.runtime.encoding import DATA
from streamops.wire.consuming import bare
from streamops.wire.consuming.benching import read_group, stand_at_end, start_over

APP: Final = "streamops.runtime.bench.worker_app:app"
BEAT: Final = timedelta(seconds=5)
SETTLED: Final = 0.2
"""Seconds from a worker's word that it works until it surely waits for entries."""

POLL: Final = 0.005
STILL: Final = 30.0
"""Seconds without anything being acknowledged after which workers are given up."""


async def measure_consuming(place: Place, plan: BenchPlan, tell: Tell) -> list[Figure]:
    """The rate of draining."""
    words = "1 worker" if plan.workers == 1 else f"{plan.workers:,} workers"
    what = f"consume, {words}"
    bare_took = None
    if plan.bare:
        tell(f"bare: {what}", 0, plan.entries)
        stream = await place.stream("bare-consume")
        await _fill(place, plan, stream, f"bare: {what}", tell)
        bare_took = await bare.drain(place.server.options, stream, GROUP, plan.entries)
        await place.drop(stream)
    took = await _drain(place, plan, what, tell)
    figure = Figure(
        measure="consume",
        what=what,
        entries=plan.entries,
        took=timedelta(seconds=took),
        per_second=plan.entries / took,
        bare_per_second=plan.entries / bare_took if bare_took else None,
    )
    return [figure]


async def _drain(place: Place, plan: BenchPlan, what: str, tell: Tell) -> float:
    """Seconds that workers take to drain."""
    stream = await place.stream("consume")
    await _fill(place, plan, stream, what, tell)
    await stand_at_end(place.server, stream, GROUP)
    processes = worker_processes(APP, place.server.options, stream, concurrency=plan.concurrency, beat=BEAT)
    async with processes as workers:
        tell(f"{what}: starting", 0, plan.entries)
        await workers.start(plan.workers)
        place.note_workers(workers.ids)
        await asyncio.sleep(SETTLED)
        last = [DATA, msgspec.json.encode(event(plan.entries, plan.size))]
        began = time.perf_counter()
        last_id = await start_over(place.server, stream, GROUP, last)
        await _until_drained(place, stream, last_id)
        took = time.perf_counter() - began
    if not plan.keep:
        await place.drop(stream)
    return took


async def _until_drained(place: Place, stream: str, last_id: str) -> None:
    seen: tuple[str, int] = ("", 0)
    moved = time.perf_counter()
    while (now := await read_group(place.server, stream, GROUP)) != (last_id, 0):
        if now != seen:
            seen, moved = now, time.perf_counter()
        elif time.perf_counter() - moved > STILL:
            raise Unreachable(
                f"the workers acknowledge nothing any more, with {now[1]:,} entries in hand",
                "Look at the server with `streamops status` and `streamops doctor`.",
            )
        await asyncio.sleep(POLL)


async def _fill(place: Place, plan: BenchPlan, stream: str, what: str, tell: Tell) -> None:
    """Put the entries there, but for the last, which comes when the workers begin."""
    events = [event(number, plan.size) for number in range(plan.entries)]
    filling = f"{what}: filling"
    async with Streamops(place.server.options).publisher() as publisher:
        await publish_all(publisher, stream, events, 500, lambda done: tell(filling, done, plan.entries))
