"""A load that was recorded: what a policy would have made of it."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from math import floor

from msgspec import Struct

from streamops.scaling.simulator.anchors import Fixed, all_anchors
from streamops.scaling.simulator.contest import FIXED, OURS, Seeded
from streamops.scaling.simulator.oracle import clairvoyant
from streamops.scaling.simulator.ours import Ours, configured
from streamops.scaling.simulator.policy import Policy
from streamops.scaling.simulator.result import Result, Step
from streamops.scaling.simulator.score import score
from streamops.scaling.simulator.shapes import Shape
from streamops.scaling.simulator.simulate import simulate
from streamops.scaling.simulator.world import NOMINAL, World

CLAIRVOYANT = "clairvoyant"
EPSILON = 1e-6
"""So that sums of fractions do not end just below a whole entry."""


class History(Struct, frozen=True, kw_only=True):
    """Arrivals as they were.

    Attributes:
        counts: Entries added in each second.
        begins_at: The first of them.
        step: The longest time that one figure stands for, in seconds; a burst within it cannot be seen.
        missing: What is not in it, in words, a line each.
    """

    counts: tuple[int, ...]
    begins_at: datetime
    step: float = 1.0
    missing: tuple[str, ...] = ()

    @property
    def entries(self) -> int:
        """All that were added."""
        return sum(self.counts)

    @property
    def peak(self) -> int:
        """The most in one second."""
        return max(self.counts, default=0)


class Told(Struct, frozen=True, kw_only=True):
    """What one policy would have made of a history.

    Attributes:
        policy: Its name.
        worker_hours: Workers paid for.
        p50: The wait that half of the entries stay under, in seconds; none of a clairvoyant.
        p99: The wait that 99 of 100 entries stay under; none of a clairvoyant.
        late_entries: Entries that waited longer than the objective.
        late: Their share.
        most: The most workers there were; none of a clairvoyant.
        actions: Changes of their number; none of a clairvoyant.
        flaps: Changes in the other direction within ten minutes; none of a clairvoyant.
        score: The score J; 1 of a clairvoyant.
    """

    policy: str
    worker_hours: float
    p50: int | None
    p99: int | None
    late_entries: int
    late: float
    most: int | None
    actions: int | None
    flaps: int | None
    score: float


class Replayed(Struct, frozen=True, kw_only=True):
    """A history replayed.

    Attributes:
        told: What became of it, ours first, the clairvoyant last.
        steps: Every look of ours.
    """

    told: tuple[Told, ...]
    steps: tuple[Step, ...]


def replay_history(
    history: History,
    world: World,
    seeded: Seeded,
    *,
    interval: int = 5,
    fixed: Sequence[int] = (),
    against: Sequence[str] = (),
) -> Replayed:
    """Run ours, fixed numbers and others over a history, and the clairvoyant beside them.

    Args:
        history: The arrivals; at least one.
        world: The workers. Every run begins with as many as the first minute needs.
        seeded: Makes the chance of handler and start-up times, the same for everybody.
        interval: Seconds between our looks.
        fixed: Numbers that never change.
        against: Anchors by name.
    """
    shape = Shape(
        name="history", seconds=len(history.counts), rate=lambda t: history.counts[t], start_up=NOMINAL
    )
    bound = clairvoyant(shape, world, history.counts)
    ours = simulate(shape, world, history.counts, Ours(configured(world), interval), seeded("1:2"))
    told = [_told(OURS, ours, score(ours, bound), history.entries)]
    for name, policy in _others(world, fixed, against):
        result = simulate(shape, world, history.counts, policy, seeded("1:2"))
        told.append(_told(name, result, score(result, bound), history.entries))
    told.append(_clairvoyant(bound.worker_seconds, bound.late, history.entries))
    return Replayed(told=tuple(told), steps=ours.steps)


def _others(world: World, fixed: Sequence[int], against: Sequence[str]) -> list[tuple[str, Policy]]:
    anchors = all_anchors(world)
    return [
        *((f"{FIXED} {count}", Fixed(count)) for count in fixed),
        *((name, anchors[name]) for name in against),
    ]


def _told(policy: str, result: Result, points: float, entries: int) -> Told:
    return Told(
        policy=policy,
        worker_hours=result.worker_seconds / 3600,
        p50=result.p50,
        p99=result.p99,
        late_entries=round(result.late * entries),
        late=result.late,
        most=result.most,
        actions=result.actions,
        flaps=result.flaps,
        score=points,
    )


def _clairvoyant(worker_seconds: float, late: float, entries: int) -> Told:
    return Told(
        policy=CLAIRVOYANT,
        worker_hours=worker_seconds / 3600,
        p50=None,
        p99=None,
        late_entries=round(late * entries),
        late=late,
        most=None,
        actions=None,
        flaps=None,
        score=1.0,
    )


def per_second(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Whole entries for each second, from how many had come by some moments, spread evenly between them.

    Args:
        points: Seconds since the first, rising, and entries that had come by then, never fewer.
    """
    counts, carried, at = [], 0.0, 0
    for (begin, before), (end, after) in pairwise(points):
        while at < floor(end):
            reached = before + (after - before) * (at + 1 - begin) / (end - begin)
            counts.append(floor(reached + EPSILON) - floor(carried + EPSILON))
            carried, at = reached, at + 1
    return tuple(counts)
