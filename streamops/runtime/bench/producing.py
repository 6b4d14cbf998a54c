"""How fast entries are published: one by one, by many tasks at once, and in batches."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.model.bench import BenchPlan, Figure
from streamops.runtime.app import Streamops
from streamops.runtime.bench.bodies import Event, encoded, event
from streamops.runtime.bench.place import Place
from streamops.runtime.bench.telling import Tell
from streamops.runtime.publishing import Publisher
from streamops.wire.consuming import bare

TOLD: Final = 100
"""Entries between two words on how far it is."""

Progress = Callable[[int], object]


class _Way(Struct, frozen=True):
    """A way to publish: its name, in words too, ours and the bare one."""

    measure: str
    what: str
    entries: int
    ours: Callable[[str, Sequence[Event], Progress], Awaitable[None]]
    bare: Callable[[str, Sequence[bytes]], Awaitable[float]]


async def measure_producing(place: Place, plan: BenchPlan, tell: Tell) -> list[Figure]:
    """The three rates."""
    async with Streamops(place.server.options).publisher() as publisher:
        return [await _measure(way, place, plan, tell) for way in _ways(place, plan, publisher)]


async def publish_all(
    publisher: Publisher, stream: str, events: Sequence[Event], batch: int, told: Progress
) -> None:
    """Publish events in batches."""
    for at in range(0, len(events), batch):
        told(at)
        await publisher.publish_many(stream, events[at : at + batch])


def _ways(place: Place, plan: BenchPlan, publisher: Publisher) -> list[_Way]:
    options = place.server.options

    async def one_by_one(stream: str, events: Sequence[Event], told: Progress) -> None:
        for at, one in enumerate(events):
            if at % TOLD == 0:
                told(at)
            await publisher.publish(stream, one)

    async def at_once(stream: str, events: Sequence[Event], told: Progress) -> None:
        def told_by_one(at: int) -> None:
            told(at * plan.concurrency)

        shares = [events[first :: plan.concurrency] for first in range(plan.concurrency)]
        await asyncio.gather(*(one_by_one(stream, share, told_by_one) for share in shares))

    async def in_batches(stream: str, events: Sequence[Event], told: Progress) -> None:
        await publish_all(publisher, stream, events, plan.batch, told)

    return [
        _Way(
            "publish-one-by-one",
            "publish, one by one",
            plan.one_by_one,
            one_by_one,
            lambda stream, bodies: bare.add_one_by_one(options, stream, bodies),
        ),
        _Way(
            "publish-at-once",
            f"publish, {plan.concurrency:,} at once",
            plan.entries,
            at_once,
            lambda stream, bodies: bare.add_at_once(options, stream, bodies, plan.concurrency),
        ),
        _Way(
            "publish-batches",
            f"publish, batches of {plan.batch:,}",
            plan.entries,
            in_batches,
            lambda stream, bodies: bare.add_in_batches(options, stream, bodies, plan.batch),
        ),
    ]


async def _measure(way: _Way, place: Place, plan: BenchPlan, tell: Tell) -> Figure:
    events = [event(number, plan.size) for number in range(way.entries)]
    bare_took = None
    if plan.bare:
        tell(f"bare: {way.what}", 0, way.entries)
        stream = await place.stream(f"bare-{way.measure}")
        bare_took = await way.bare(stream, encoded(events))
        await place.drop(stream)
    stream = await place.stream(way.measure)
    began = time.perf_counter()
    await way.ours(stream, events, lambda done: tell(way.what, min(done, way.entries), way.entries))
    took = time.perf_counter() - began
    if not plan.keep:
        await place.drop(stream)
    return Figure(
        measure=way.measure,
        what=way.what,
        entries=way.entries,
        took=timedelta(seconds=took),
        per_second=way.entries / took,
        bare_per_second=way.entries / bare_took if bare_took else None,
    )
