"""Two controllers of one pool, its workers, and who asked for them under whose lead."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any, Final

import msgspec
import redis
from msgspec import Struct

from streamops.autoscaling.controller import Controller, RoundReport
from streamops.autoscaling.decisions import Assignment, ControllerOptions
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.model.pools import PoolDecision, PoolSize
from streamops.model.streams import Snapshot
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.targets.target import require_expected
from tests.chaos.watchers.consoles import Snapshots
from tests.chaos.watchers.judging import Journals
from tests.chaos.watchers.lines import Line
from tests.chaos.watchers.writer import ANYTHING, GROUPS, KEEPER, STREAMS
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.servers import RunningServer

POOL: Final = "fleet"
KEY: Final = f"streamops:pool:{POOL}"
LOG: Final = f"streamops:decisions:{POOL}"
LEAST, MOST = 1, 6
LEASE: Final = 2.0
EVERY: Final = 0.4


class Asked(Struct, frozen=True):
    """That somebody asked for workers.

    Attributes:
        holder: Who.
        workers: How many.
        leader: Who led the pool then; none where nobody could be asked.
        blind: Whether who asked had not read the work just before.
        told: What a person had told the controllers.
    """

    holder: str
    workers: int
    leader: str | None
    blind: bool
    told: int | None


class Fleet:
    """Workers that do not exist: a number, shared by all who may set it.

    Attributes:
        count: The number.
        asked: Who asked for which.
        told: What a person told the controllers last; none where they were left to themselves.
    """

    def __init__(self, server: RunningServer) -> None:
        self.count = LEAST
        self.asked: list[Asked] = []
        self.told: int | None = None
        self._steered = 0
        self.turn_to(server)

    def turn_to(self, server: RunningServer) -> None:
        """Look there from now on."""
        self._client = server.connect(username=KEEPER, password=ANYTHING)
        self._client.response_callbacks.clear()
        self._asked_often = server.connect(username=KEEPER, password=ANYTHING, socket_timeout=0.5)

    def steer(self, workers: int | None) -> None:
        """Tell the controllers to keep so many workers, as a person would; or to decide by themselves."""
        self._steered += 1
        self.told = workers
        words = ("steered_by", "ada@desk", "steered_at", self._steered)
        if workers is None:
            self._do("HDEL", KEY, "override")
            self._do("HSET", KEY, *words)
        else:
            self._do("HSET", KEY, *words, "override", workers)

    async def leader(self) -> str | None:
        """Who leads the pool; empty for nobody, none where the server does not answer."""
        return await asyncio.to_thread(self._leader)

    def written(self) -> tuple[int, list[PoolDecision]]:
        """The term, and the decisions that were written down, the oldest first."""
        rows, decoder = self._do("XRANGE", LOG, "-", "+"), msgspec.json.Decoder(PoolDecision)
        return int(self._do("HGET", KEY, "term") or 0), [decoder.decode(fields[1]) for _, fields in rows]

    def _leader(self) -> str | None:
        try:
            return bytes(self._asked_often.execute_command("HGET", KEY, "leader") or b"").decode()  # type: ignore[no-untyped-call]
        except redis.RedisError:
            return None

    def _do(self, *words: str | int) -> Any:  # noqa: ANN401 - a raw reply
        return self._client.execute_command(*words)  # type: ignore[no-untyped-call]


class Door:
    """The fleet as one controller's target."""

    kind = "invented"
    label = "workers of a test"

    def __init__(self, fleet: Fleet, watch: "ControllerWatch") -> None:
        self._fleet = fleet
        self._watch = watch

    async def read(self) -> PoolSize:
        return PoolSize(ordered=self._fleet.count)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - a target's
        leader = await self._fleet.leader()
        blind, told = self._watch.blind, self._fleet.told
        self._fleet.asked.append(Asked(self._watch.name, workers, leader, blind, told))
        require_expected(self.label, PoolSize(ordered=self._fleet.count), expected)
        self._fleet.count = workers

    async def close(self) -> None:
        """There is nothing to let go of."""


class ControllerWatch(Snapshots):
    """One controller; what it reads is judged as what a console shows.

    Attributes:
        blind: Whether it could not read the work when it looked last.
    """

    def __init__(self, name: str, line: Line, fleet: Fleet) -> None:
        super().__init__(name, line)
        self.blind = True
        self._fleet = fleet
        self._decision: PoolDecision | None = None
        self._waits = False

    async def run(self) -> None:
        """Go round until cancelled."""
        assignment = Assignment(
            pool=POOL, stream=STREAMS[0], group=GROUPS[0], config=ScalingConfig(minimum=LEAST, maximum=MOST)
        )
        options = ControllerOptions(
            holder=self.name,
            assignments=(assignment,),
            every=timedelta(seconds=EVERY),
            lease=timedelta(seconds=LEASE),
        )
        async with Console.patient(self.line.options, watch=Watch(details=False), actor=WORKSHOP) as console:
            console.place.targets.use(POOL, Door(self._fleet, self))
            self._listen(console)
            await Controller(console, options, self._hear).run()

    def is_right(self, journals: Journals, since: float) -> bool:
        """Whether it waits for another one, or leads, has read all of the truth since then, and decided by it."""
        if self._waits:
            return True
        streams = {STREAMS[0]: journals[STREAMS[0]]}
        decided = self._decision is not None and not self._decision.problem
        return decided and not self.blind and super().is_right(streams, since)

    def shows(self) -> str:
        """What it shows now, for a message."""
        return f"{super().shows()}, waits {self._waits}, decided {self._decision}"

    def _listen(self, console: Console) -> None:
        """See what it reads."""
        collect = console.collect

        async def collecting(only: Sequence[str] = ()) -> Snapshot:
            self.blind = True
            snapshot = await collect(only)
            self.take(snapshot)
            self.blind = not any(
                group.name == GROUPS[0] for stream in snapshot.streams for group in stream.groups
            )
            return snapshot

        console.collect = collecting  # type: ignore[method-assign]  # what it reads is to be seen

    def _hear(self, report: RoundReport) -> None:
        self._waits = POOL in report.waiting
        self._decision = report.decisions.get(POOL)


def wrong_in(fleet: Fleet) -> list[str]:
    """What controllers did that they must not: beyond the limits, without the lead, or without having looked."""
    problems = []
    for one in fleet.asked:
        if not LEAST <= one.workers <= MOST:
            problems.append(f"asked beyond the limits: {one}")
        if one.leader is not None and one.leader != one.holder:
            problems.append(f"asked without the lead: {one}")
        if one.blind and one.workers not in (LEAST, one.told):
            problems.append(f"asked without having read the work: {one}")
    return problems


def wrong_in_log(fleet: Fleet) -> list[str]:
    """Decisions that were written down by two who led at once; since the server's keys were lost last."""
    term, decisions = fleet.written()
    by = [one.by for one in sorted(decisions, key=lambda one: one.at)]
    changes = sum(before != after for before, after in pairwise(by))
    if changes > max(0, term - 1):
        return [f"in {term} terms the one who decided changed {changes} times: {by}"]
    return []
