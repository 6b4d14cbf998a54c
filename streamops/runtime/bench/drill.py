"""The overload drill: a burst, too few workers, half of them killed on the way and returned, and events that fail.

Entry IDs of the burst count on from 1 within one millisecond, so that the last one a group was given says how many
were, on every version of the server.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Final, Protocol

from streamops.model.bench import DrillMoment, DrillPlan, DrillVerdict
from streamops.runtime.app import Streamops
from streamops.runtime.bench.drill_audit import Effort, Staff, judge, numbers_of
from streamops.runtime.bench.drill_events import DrillEvent, draw_events, to_fail
from streamops.runtime.bench.ledger import HANDLED, REPEATED
from streamops.runtime.bench.place import GROUP, Place, bench_place
from streamops.runtime.bench.processes import worker_processes
from streamops.runtime.encoding import DATA
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.wire.consuming.benching import Standing, read_field, read_ledger, read_standing
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.reads import read_clock

APP: Final = "streamops.runtime.bench.drill_app:app"
BEAT: Final = timedelta(seconds=1)
LOOK: Final = 0.1
TOLD: Final = timedelta(seconds=1)
"""Seconds between two looks; time between two moments that are told."""

KILL_AT, RETURN_AT = 0.25, 0.5
"""Shares of the events that are done when half the workers are killed, and when they return."""

AWAY: Final = 10.0
"""Seconds after which they return in any case."""

RESTED: Final = 600.0
"""Seconds within which workers that are not needed have to have gone."""

STILL: Final = 30.0
"""Seconds in which nothing moves after which a drill is over."""

BATCH: Final = 1_000
Tell = Callable[[DrillMoment], object]


class Workers(Protocol):
    """The worker processes of a drill.

    Attributes:
        ids: The IDs of all that ever were ready.
    """

    ids: set[str]

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Those that run, and are ready."""

    async def start(self, count: int) -> None:
        """Start some more, and wait until they work; nothing where others see to that."""

    def kill(self, count: int) -> int:
        """End some at once (SIGKILL); how many."""


Hire = Callable[[str, DrillPlan], AbstractAsyncContextManager[Workers]]
"""Worker processes that handle the events of a stream, none at first."""


def hiring(options: ConnectionOptions) -> Hire:
    """As many as the plan says."""
    return lambda stream, plan: worker_processes(APP, options, stream, concurrency=plan.slots, beat=BEAT)


async def drill(
    options: ConnectionOptions, plan: DrillPlan, tag: str, tell: Tell, hire: Hire | None = None
) -> DrillVerdict:
    """Run a drill.

    Args:
        options: The server.
        plan: What is drilled.
        tag: What the keys begin with: ``place.new_tag()``.
        tell: Told how it stands, once a second and when something is done to the workers.
        hire: Who handles the events; as many workers as the plan says, unless given.

    Raises:
        StreamopsError: The server does not answer or does not let us, or no worker can begin.
    """
    async with bench_place(options, tag, keep=plan.keep) as place:
        stream = await place.stream("events")
        async with (hire or hiring(options))(stream, plan) as workers:
            try:
                await workers.start(plan.workers)
                return await _Drill(place, plan, stream, workers, tell).run()
            finally:
                place.note_workers(workers.ids)


class _Drill:
    """A drill under way."""

    def __init__(self, place: Place, plan: DrillPlan, stream: str, workers: Workers, tell: Tell) -> None:
        self._server = place.server
        self._plan = plan
        self._sub = Subscription(stream, GROUP, "")
        self._ledger, self._repeats = place.key(HANDLED), place.key(REPEATED)
        self._workers = workers
        self._tell = tell
        self._events = draw_events(plan)
        self._staff = Staff()
        self._effort = Effort()
        self._killed_at = 0.0
        self._began = 0.0
        self._told = DrillMoment(
            at=timedelta(0), lag=0, pending=0, retrying=0, handled=0, per_second=0, workers=0, dead_letters=0
        )

    async def run(self) -> DrillVerdict:
        """From the burst to the verdict."""
        self._began = time.monotonic()
        self._note(await self._look())
        burst = asyncio.create_task(self._publish(self._events))
        try:
            standing = await self._watch(burst)
            await burst
        finally:
            burst.cancel()
            await asyncio.wait([burst])
        took = self._age
        await self._rest()
        letters = numbers_of(await read_field(self._server, self._sub.dead_letters, DATA))
        return judge(
            await read_ledger(self._server, self._ledger),
            letters,
            to_fail(self._events),
            standing,
            events=self._plan.events,
            lag=_lag(standing),
            staff=self._staff,
            took=took,
            could=self._effort.enough,
        )

    async def _publish(self, events: Sequence[DrillEvent]) -> None:
        clock = await read_clock(self._server, self._sub.stream)
        # A user who may not ask for the time drills all the same; only ages make no sense then.
        born = 1 if clock is None else round(clock.timestamp() * 1000)
        async with Streamops(self._server.options).publisher() as publisher:
            for at in range(0, len(events), BATCH):
                some = events[at : at + BATCH]
                ids = [f"{born}-{event.number + 1}" for event in some]
                await publisher.publish_many(self._sub.stream, some, ids=ids)

    async def _watch(self, burst: "asyncio.Task[None]") -> Standing:
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
            note = await self._handle_staff(standing)
            if note or self._age >= self._told.at + TOLD:
                self._note(standing, note)
            await asyncio.sleep(LOOK)

    async def _rest(self) -> None:
        """Wait for the workers to become as few as they may, where their number follows the work."""
        fewest, began = self._plan.rest_at, time.monotonic()
        while fewest is not None and time.monotonic() - began < RESTED:
            at_work = len(self._workers.at_work)
            if at_work != self._told.workers:
                self._note(await self._look())
            self._staff = self._staff._replace(rested=at_work)
            if at_work <= fewest:
                break
            await asyncio.sleep(LOOK)

    @property
    def _age(self) -> timedelta:
        """Time since the burst began."""
        return timedelta(seconds=time.monotonic() - self._began)

    def _count_workers(self) -> None:
        at_work = len(self._workers.at_work)
        self._effort = self._effort.later(self._age, at_work * self._plan.speed, self._plan.events)
        self._staff = self._staff._replace(most=max(self._staff.most, at_work), rested=at_work)

    async def _look(self) -> Standing:
        return await read_standing(self._server, self._sub, self._ledger, self._repeats)

    async def _handle_staff(self, standing: Standing) -> str:
        """Kill half the workers, or have them return, where it is time to; what was done, in words."""
        if not self._plan.stop_half:
            return ""
        done = (standing.handled + standing.dead_letters) / self._plan.events
        if not self._staff.killed and done >= KILL_AT:
            killed = self._workers.kill(max(1, len(self._workers.at_work) // 2))
            self._staff = self._staff._replace(killed=killed)
            self._killed_at = time.monotonic()
            return f"{self._staff.killed:,} killed"
        away = time.monotonic() - self._killed_at
        if self._staff.killed > self._staff.returned and (done >= RETURN_AT or away > AWAY):
            await self._workers.start(self._staff.killed)
            self._staff = self._staff._replace(returned=self._staff.killed)
            return f"{self._staff.returned:,} returned"
        return ""

    def _note(self, standing: Standing, note: str = "") -> None:
        """Tell how it stands."""
        at = self._age
        since = (at - self._told.at).total_seconds()
        self._told = DrillMoment(
            at=at,
            lag=_lag(standing),
            pending=standing.pending,
            retrying=standing.retrying,
            handled=standing.handled,
            per_second=(standing.handled - self._told.handled) / since if since else 0.0,
            workers=len(self._workers.at_work),
            dead_letters=standing.dead_letters,
            note=note,
        )
        self._tell(self._told)


def _lag(standing: Standing) -> int:
    """Entries that no worker was given: their IDs count on from 1."""
    return standing.added - int(standing.delivered.partition("-")[2])


def _is_over(standing: Standing) -> bool:
    return not (_lag(standing) or standing.pending or standing.retrying)
