"""The overload drill: a burst, too few workers, half of them killed on the way, and events that fail.

Entry IDs of the burst count on from 1 within one millisecond, so that the last one a group was given says how many
were, on every version of the server.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from streamops.model.drill import DrillPlan, DrillProgress, DrillVerdict
from streamops.runtime.app import Streamops
from streamops.runtime.codec import DATA
from streamops.runtime.drill.events import Capacity, WorkerCounts, draw_events, judge, lag_of, number_of
from streamops.runtime.drill.keys import DrillKeys, opened
from streamops.runtime.drill.workers import Control, DrillWorkers, drill_workers
from streamops.wire.consuming.drilling import DrillCounts, read_drill_counts, read_field, read_ledger
from streamops.wire.options import ConnectionOptions
from streamops.wire.reads import read_clock
from streamops.wire.server import Server

LOOK: Final = 0.1
PROGRESS_EVERY: Final = timedelta(seconds=1)
"""Seconds between two looks; time between two moments that are told."""
KILL_AT: Final = 0.25
"""Share of the events that are done when half the workers are killed."""
RESTED: Final = 600.0
"""Seconds within which workers that are not needed have to have gone."""
STILL: Final = 30.0
"""Seconds in which nothing moves after which a drill is over."""
BATCH: Final = 1_000
Tell = Callable[[DrillProgress], object]


async def drill(
    options: ConnectionOptions, plan: DrillPlan, tag: str, tell: Tell, control: Control | None = None
) -> DrillVerdict:
    """Run a drill.

    Args:
        options: The server.
        plan: What is drilled.
        tag: What the keys begin with: ``new_tag()``.
        tell: Called with how it stands, once a second and when workers are killed.
        control: Decides how many workers there are; none for as many as the plan says.

    Raises:
        StreamopsError: The server does not answer or does not let us, or no worker can begin.
    """
    keys = DrillKeys(tag)
    async with opened(options, keys) as server, drill_workers(options, keys, plan, control) as workers:
        return await _Drill(server, keys, plan, workers, tell).run()


class _Drill:
    """A drill under way."""

    def __init__(
        self, server: Server, keys: DrillKeys, plan: DrillPlan, workers: DrillWorkers, tell: Tell
    ) -> None:
        self._server, self._keys, self._plan, self._workers, self._tell = server, keys, plan, workers, tell
        self._events = draw_events(plan)
        self._counts = WorkerCounts()
        self._capacity = Capacity()
        self._began = 0.0
        self._told = DrillProgress()

    async def run(self) -> DrillVerdict:
        """From the burst to the verdict."""
        self._began = time.monotonic()
        self._note(await self._look())
        burst = asyncio.create_task(self._publish())
        try:
            standing = await self._watch(burst)
            await burst
        finally:
            burst.cancel()
            await asyncio.wait([burst])
        took = self._age
        await self._rest()
        dead = await read_field(self._server, self._keys.sub.dead_letters, DATA)
        return judge(
            await read_ledger(self._server, self._keys.handled),
            [number_of(body) for body in dead],
            self._events,
            standing,
            workers=self._counts,
            took=took,
            could=self._capacity.enough,
        )

    async def _publish(self) -> None:
        stream = self._keys.sub.stream
        clock = await read_clock(self._server, stream)
        # A user who may not ask for the time drills all the same; only ages make no sense then.
        born = 1 if clock is None else round(clock.timestamp() * 1000)
        async with Streamops(self._server.options).publisher() as publisher:
            for at in range(0, len(self._events), BATCH):
                some = self._events[at : at + BATCH]
                ids = [f"{born}-{event.number + 1}" for event in some]
                await publisher.publish_many(stream, some, ids=ids)

    async def _watch(self, burst: "asyncio.Task[None]") -> DrillCounts:
        """Look again and again until nothing is left, or nothing moves any more; how it stood last."""
        before, moved = None, time.monotonic()
        while True:
            standing = await self._look()
            self._count_workers()
            now = time.monotonic()
            if standing != before:
                before, moved = standing, now
            if burst.done() and (_is_over(standing) or now - moved > STILL or burst.exception()):
                self._note(standing)
                return standing
            note = self._kill_once(standing)
            if note or self._age >= self._told.at + PROGRESS_EVERY:
                self._note(standing, note)
            await asyncio.sleep(LOOK)

    def _kill_once(self, standing: DrillCounts) -> str:
        """Kill half the workers once it is time to; what was done, in words."""
        done = (standing.handled + standing.dead_letters) / self._plan.events
        if self._counts.killed or done < KILL_AT:
            return ""
        self._counts = self._counts._replace(killed=self._workers.kill_half())
        return f"{self._counts.killed:,} killed"

    async def _rest(self) -> None:
        """Wait for the workers to become as few as they may, if their number follows the work."""
        began = time.monotonic()
        while time.monotonic() - began < RESTED:
            working = len(self._workers.at_work)
            if working != self._told.workers:
                self._note(await self._look())
            self._counts = self._counts._replace(last=working)
            if working <= self._plan.minimum:
                break
            await asyncio.sleep(LOOK)

    @property
    def _age(self) -> timedelta:
        """Time since the burst began."""
        return timedelta(seconds=time.monotonic() - self._began)

    def _count_workers(self) -> None:
        working = len(self._workers.at_work)
        self._capacity = self._capacity.later(self._age, working * self._plan.speed, self._plan.events)
        self._counts = self._counts._replace(most=max(self._counts.most, working), last=working)

    async def _look(self) -> DrillCounts:
        keys = self._keys
        return await read_drill_counts(self._server, keys.sub, keys.handled, keys.repeated)

    def _note(self, standing: DrillCounts, note: str = "") -> None:
        """Tell how it stands."""
        at = self._age
        since = (at - self._told.at).total_seconds()
        self._told = DrillProgress(
            at=at,
            lag=lag_of(standing),
            pending=standing.pending,
            retrying=standing.retrying,
            handled=standing.handled,
            per_second=(standing.handled - self._told.handled) / since if since else 0.0,
            workers=len(self._workers.at_work),
            dead_letters=standing.dead_letters,
            note=note,
        )
        self._tell(self._told)


def _is_over(standing: DrillCounts) -> bool:
    return not (lag_of(standing) or standing.pending or standing.retrying)
