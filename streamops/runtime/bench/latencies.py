"""How long entries are under way, and how late delayed messages become entries."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from streamops.errors import Refused, Unreachable
from streamops.model.bench import BenchPlan, Figure
from streamops.runtime.app import Streamops
from streamops.runtime.bench.bodies import Event, encoded, event
from streamops.runtime.bench.percentiles import percentile
from streamops.runtime.bench.place import GROUP, Place
from streamops.runtime.bench.producing import TOLD
from streamops.runtime.bench.telling import Tell
from streamops.runtime.entry import Entry
from streamops.wire.consuming import bare
from streamops.wire.reads import read_clock

WARMING: Final = 20
"""Entries before those that count: connections are made, and code is imported, with the first."""

PATIENCE: Final = 30.0
AHEAD: Final = 0.5
"""Seconds between the last message that is scheduled and the first that is due, at least."""

APART: Final = 4
"""Milliseconds from one that is due to the next, on the average."""

SCHEDULING: Final = 2
"""Milliseconds that scheduling one message may take."""


async def measure_latency(place: Place, plan: BenchPlan, tell: Tell) -> list[Figure]:
    """From before publishing to the handler, and from due to added."""
    return [await _end_to_end(place, plan, tell), await _promotion(place, plan, tell)]


async def _end_to_end(place: Place, plan: BenchPlan, tell: Tell) -> Figure:
    what = f"end to end, {plan.rate:,.0f}/s"
    bare_taken = await _bare_pace(place, plan, what, tell) if plan.bare else []
    stream = await place.stream("latency")
    app, count = Streamops(place.server.options), plan.paced + WARMING
    began: dict[int, float] = {}
    taken: list[float] = []
    done = asyncio.Event()

    @app.handler(stream, group=GROUP, start="0", concurrency=plan.concurrency)
    async def arrive(event: Event) -> None:
        taken.append(time.perf_counter() - began[event.number])
        if len(taken) == count:
            done.set()

    async with _working(app) as work, app.publisher() as publisher:
        first = time.perf_counter()
        for number in range(count):
            if number % TOLD == 0:
                tell(what, number, count)
            body = event(number, plan.size)
            await asyncio.sleep(max(0.0, first + number / plan.rate - time.perf_counter()))
            began[number] = time.perf_counter()
            await publisher.publish(stream, body)
        await _all_came(done, work)
        took = time.perf_counter() - first
    if not plan.keep:
        await place.drop(stream)
    return _figure("end-to-end", what, taken[WARMING:], took, bare_taken)


async def _bare_pace(place: Place, plan: BenchPlan, what: str, tell: Tell) -> list[float]:
    stream = await place.stream("bare-latency")
    tell(f"bare: {what}", 0, plan.paced)
    bodies = encoded([event(number, plan.size) for number in range(plan.paced + WARMING)])
    taken = await bare.pace(place.server.options, stream, GROUP, bodies, plan.rate)
    await place.drop(stream)
    return taken[WARMING:]


async def _promotion(place: Place, plan: BenchPlan, tell: Tell) -> Figure:
    """Both ends are of the server's clock: when a message is due, and the ID of its entry."""
    what, count = "delayed message, due to added", plan.delayed
    stream = await place.stream("delayed")
    app = Streamops(place.server.options)
    taken: list[float] = []
    done = asyncio.Event()
    clock = await read_clock(place.server, stream)
    if clock is None:
        raise Refused("the server's clock cannot be read", "Allow TIME: `streamops doctor --acl operator`.")
    # Whole milliseconds, as entry IDs have.
    whole = clock.replace(microsecond=clock.microsecond // 1_000 * 1_000)
    start = whole + timedelta(seconds=AHEAD, milliseconds=count * SCHEDULING)
    dues = [start + timedelta(milliseconds=at) for at in _moments(count)]

    @app.handler(stream, group=GROUP, start="0", concurrency=plan.concurrency)
    async def arrive(event: Event, entry: Entry) -> None:
        added = int(entry.id.partition("-")[0])
        taken.append((added - round(dues[event.number].timestamp() * 1000)) / 1000)
        if len(taken) == count:
            done.set()

    began = time.perf_counter()
    async with _working(app) as work, app.publisher() as publisher:
        for number, due in enumerate(dues):
            if number % TOLD == 0:
                tell(what, number, count)
            await publisher.publish(stream, event(number, plan.size), at=due)
        await _all_came(done, work)
        took = time.perf_counter() - began
    return _figure("promotion", what, taken, took, ())


def _moments(count: int) -> Sequence[int]:
    """Milliseconds of a time that is the longer the more there are, the same ones every time."""
    drawn = random.Random(count)  # noqa: S311 - no cryptography
    return [drawn.randrange(count * APART) for _ in range(count)]


def _figure(measure: str, what: str, taken: Sequence[float], took: float, bare: Sequence[float]) -> Figure:
    ordered = sorted(taken)
    return Figure(
        measure=measure,
        what=what,
        entries=len(ordered),
        took=timedelta(seconds=took),
        p50=percentile(ordered, 0.5),
        p99=percentile(ordered, 0.99),
        longest=percentile(ordered, 1),
        bare_p50=percentile(sorted(bare), 0.5) if bare else None,
    )


@asynccontextmanager
async def _working(app: Streamops) -> AsyncIterator[asyncio.Task[None]]:
    """A worker in this process, drained at the end."""
    worker = app.worker()
    task = asyncio.create_task(worker.run())
    try:
        yield task
    finally:
        worker.stop()
        await asyncio.wait([task])
    task.result()


async def _all_came(done: asyncio.Event, work: asyncio.Task[None]) -> None:
    """Wait for the last entry; raises what ended the worker, or ``Unreachable`` where nothing comes any more."""
    coming = asyncio.create_task(done.wait())
    try:
        await asyncio.wait([coming, work], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
    finally:
        coming.cancel()
    if work.done():
        work.result()
    if not done.is_set():
        raise Unreachable(
            "what was published does not come back", "Look at the server with `streamops doctor`."
        )
