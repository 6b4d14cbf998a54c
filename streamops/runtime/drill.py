"""The overload drill: a burst, too few workers, half of them killed on the way, and events that fail.

Entry IDs of the burst count on from 1 within one millisecond, so that the last one a group was given says how many
were, on every version of the server.
"""

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from secrets import token_hex
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from streamops.errors import ServerError, StreamopsError
from streamops.model.drill import DrillPlan, DrillProgress, DrillVerdict
from streamops.runtime.app import Streamops
from streamops.runtime.codec import DATA
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.spec import WorkerSpec
from streamops.runtime.supervisor.supervisor import Supervisor
from streamops.runtime.worker import WorkerOptions
from streamops.service.processes import LogFormat
from streamops.wire.consuming.drilling import (
    DrillCounts,
    open_streams,
    read_drill_counts,
    read_field,
    read_ledger,
    remove_keys,
    renew_keys,
)
from streamops.wire.consuming.heartbeats import stop_beating
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.pools.registry import clock_out
from streamops.wire.reads import read_clock
from streamops.wire.server import Server

PREFIX: Final = "streamops-drill"
GROUP: Final = "drill"
KEPT: Final = timedelta(minutes=2)
"""How long keys stay once they are not renewed."""
RENEWED: Final = 0.5


class DrillKeys:
    """The keys of one drill.

    Attributes:
        tag: What all of them begin with.
        pool: The pool of its workers.
        sub: Its stream and group.
        handled: The ledger: a bit for each event that was handled.
        repeated: How often one was handled again.
        workers: The IDs of all workers that ever were ready, whose heartbeats are removed at the end.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.pool = f"drill-{tag.strip('{}').rpartition(':')[2]}"
        self.sub = Subscription(f"{tag}:events", GROUP, "")
        self.handled, self.repeated = f"{tag}:handled", f"{tag}:repeated"
        self.workers: set[str] = set()

    @property
    def all(self) -> list[str]:
        """Every key of the drill, and what the runtime may keep beside its stream."""
        sub = self.sub
        beside = [sub.retries, sub.attempts, sub.delayed, sub.bodies, sub.dead_letters]
        return [sub.stream, self.handled, self.repeated, *beside]


def is_drill_pool(name: str) -> bool:
    """Whether a pool's name is one that a drill made."""
    return re.fullmatch(r"drill-[0-9a-f]{8}", name) is not None


def new_tag() -> str:
    """What the keys of a new drill begin with."""
    return f"{{{PREFIX}:{token_hex(4)}}}"


@asynccontextmanager
async def opened(options: ConnectionOptions, keys: DrillKeys) -> AsyncIterator[Server]:
    """An empty stream, renewed until the block ends and removed then; raises ``ServerError``.

    The stream is made here, and not with its first entry, so that there is no moment in which it would stay forever;
    the same for the retry stream.
    """
    server = await Server.connect(options)
    try:
        renewing = asyncio.create_task(renew_for_ever(server, keys))
        try:
            await open_streams(server, [keys.sub.stream, keys.sub.retries], GROUP, KEPT)
            yield server
        finally:
            renewing.cancel()
            await asyncio.wait([renewing])
            # A server that is gone must not hide why; the keys go by themselves.
            with suppress(ServerError):
                for worker in keys.workers:
                    await stop_beating(server, worker)
                    await clock_out(server, keys.pool, worker)
                await remove_keys(server, keys.all)
    finally:
        await server.close()


async def renew_for_ever(server: Server, keys: DrillKeys) -> None:
    """Put off the end of the keys, until cancelled."""
    while True:
        with suppress(ServerError):
            await renew_keys(server, keys.all, KEPT)
        await asyncio.sleep(RENEWED)


ALWAYS: Final = 1_000
SEED: Final = 1


class DrillEvent(Struct, frozen=True):
    """An event of a drill.

    Attributes:
        number: Which one, from 0 on.
        work: Seconds that handling it takes.
        fails: Attempts that fail, from the first on.
    """

    number: int
    work: float
    fails: int = 0


def draw_events(plan: DrillPlan) -> list[DrillEvent]:
    """All events, in the order of their numbers; the same plan draws the same ones."""
    drawn = random.Random(SEED)  # noqa: S311 - no cryptography
    least, most = plan.least.total_seconds(), plan.most.total_seconds()
    failing = drawn.sample(range(plan.events), 2 * erring(plan))
    fails = dict.fromkeys(failing[::2], ALWAYS) | dict.fromkeys(failing[1::2], 1)
    return [
        DrillEvent(number, round(drawn.uniform(least, most), 6), fails.get(number, 0))
        for number in range(plan.events)
    ]


def erring(plan: DrillPlan) -> int:
    """How many events fail whenever they are tried; as many fail once."""
    return min(plan.events // 2, round(plan.events * plan.errors / 100))


def to_fail(events: Sequence[DrillEvent]) -> set[int]:
    """The numbers of those that have to end in the dead-letter queue."""
    return {event.number for event in events if event.fails == ALWAYS}


class WorkerCounts(NamedTuple):
    """How many workers were killed, the most there were, and how many there were at the end."""

    killed: int = 0
    most: int = 0
    last: int = 0


class Capacity(NamedTuple):
    """What the workers could have done by now, each slot always busy.

    Attributes:
        events: So many events.
        at: When that was, since the burst began.
        enough: When it was as many as there are; none before that.
    """

    events: float = 0.0
    at: timedelta = timedelta(0)
    enough: timedelta | None = None

    def later(self, at: timedelta, speed: float, events: int) -> "Capacity":
        """The same a little later.

        Args:
            at: When.
            speed: Events a second that the workers could handle since.
            events: How many there are.
        """
        could = self.events + speed * (at - self.at).total_seconds()
        enough = self.enough
        if enough is None and could >= events:
            enough = at - timedelta(seconds=(could - events) / speed)
        return Capacity(could, at, enough)


def judge(
    handled: Collection[int],
    dead: Sequence[int],
    events: Sequence[DrillEvent],
    standing: DrillCounts,
    *,
    workers: WorkerCounts,
    took: timedelta,
    could: timedelta | None = None,
) -> DrillVerdict:
    """The verdict.

    Args:
        handled: The numbers that the ledger has.
        dead: The numbers of the dead letters.
        events: All events.
        standing: How the group stood at the end.
        workers: How many there were.
        took: From the burst to the last event.
        could: What the workers could have done it in; none if they were no faster than that.
    """
    done, given_up, failing = set(handled), set(dead), to_fail(events)
    doubled = len(dead) - len(given_up)
    return DrillVerdict(
        events=len(events),
        handled=len(done),
        dead_letters=len(dead),
        to_fail=len(failing),
        lost=len({event.number for event in events} - done - given_up),
        astray=len((done & given_up) | (given_up - failing)) + doubled,
        repeated=standing.repeated,
        lag=lag_of(standing),
        pending=standing.pending,
        retrying=standing.retrying,
        killed=workers.killed,
        took=took,
        could=min(took, could or took),
        most_workers=workers.most,
        last_workers=workers.last,
    )


def lag_of(standing: DrillCounts) -> int:
    """Entries that no worker was given: their IDs count on from 1."""
    return standing.added - int(standing.delivered.partition("-")[2])


class _Numbered(msgspec.Struct):
    number: int


def number_of(body: bytes) -> int:
    """The number of a dead letter by its body; -1 for one that is none of the drill's."""
    try:
        return msgspec.json.decode(body, type=_Numbered).number
    except msgspec.DecodeError:
        return -1


APP: Final = "streamops.runtime.drill_app:app"
TAG_VARIABLE: Final = "STREAMOPS_DRILL_TAG"
"""The environment variable that gives worker processes the drill's keys."""
SILENT: Final = 50
"""The highest level of ``logging``, which nothing here uses: a drill is made of failures, and shows them itself."""
HEARTBEAT: Final = timedelta(seconds=1)
GRACE: Final = timedelta(seconds=5)
SOON: Final = 0.05
Control = Callable[[DrillKeys], Coroutine[Any, Any, None]]
"""A controller of the drill's pool, until it is cancelled."""


class DrillWorkers:
    """The workers, as a drill sees them: it may kill some, and the supervisor replaces them."""

    def __init__(self, supervisor: Supervisor, keys: DrillKeys) -> None:
        self._supervisor = supervisor
        self._keys = keys

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Those that run, and are ready."""
        working = self._supervisor.processes.at_work
        self._keys.workers |= {one.report.worker_id for one in working}
        return working

    async def wait_for(self, count: int) -> None:
        """Wait until this many work."""
        while len(self.at_work) < count:  # noqa: ASYNC110 - processes far away make it so
            await asyncio.sleep(SOON)

    def kill_half(self) -> int:
        """End half of them at once (SIGKILL), the eldest; how many."""
        working = self.at_work
        chosen = working[: max(1, len(working) // 2)]
        for process in chosen:
            process.kill()
        return len(chosen)


@asynccontextmanager
async def drill_workers(
    options: ConnectionOptions, keys: DrillKeys, plan: DrillPlan, control: Control | None
) -> AsyncIterator[DrillWorkers]:
    """Workers that handle the events of a drill; all have ended when the block has.

    Args:
        options: The server.
        keys: The events.
        plan: How many workers, and what each handles at once.
        control: Decides how many there are; none for as many as the plan says.

    Raises:
        CannotStart: No worker can begin.
    """
    orders = WorkerSpec(
        app=APP,
        worker=WorkerOptions(pool=keys.pool, app="streamops drill", beat=HEARTBEAT, grace=GRACE),
        connection=options,
        concurrency=plan.slots,
        log_format=LogFormat.TEXT,
        log_level=SILENT,
    )
    count = plan.minimum if control is None else None
    supervisor = Supervisor(orders, count, default_workers=plan.minimum, environment={TAG_VARIABLE: keys.tag})
    workers = DrillWorkers(supervisor, keys)
    keeping = asyncio.create_task(supervisor.keep())
    tasks = [asyncio.create_task(workers.wait_for(plan.minimum))]
    try:
        await asyncio.wait([*tasks, keeping], return_when=asyncio.FIRST_COMPLETED)
        if keeping.done():
            await keeping
        if control is not None:
            tasks.append(asyncio.create_task(control(keys)))
        yield workers
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        supervisor.stop()
        with suppress(StreamopsError):
            await keeping


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
        tell: Called with its state, once a second and when workers are killed.
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
        """Tell its state."""
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
