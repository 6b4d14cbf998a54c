"""Policies side by side: each on the same loads, by the same chance."""

from collections.abc import Callable, Iterable
from math import isfinite

from msgspec import Struct

from streamops.model.scaling import ScaleCode
from streamops.scaling.simulator.anchors import Fixed, all_anchors
from streamops.scaling.simulator.chance import Chance
from streamops.scaling.simulator.changed import changed
from streamops.scaling.simulator.oracle import Bound, clairvoyant
from streamops.scaling.simulator.ours import Ours, configured
from streamops.scaling.simulator.policy import Policy
from streamops.scaling.simulator.result import Result
from streamops.scaling.simulator.score import score
from streamops.scaling.simulator.shapes import SHAPES, Shape, arrivals
from streamops.scaling.simulator.simulate import simulate
from streamops.scaling.simulator.world import World

Seeded = Callable[[str], Chance]
"""Makes a generator of a seed in words, such as ``random.Random``."""

OURS = "ours"
FIXED = "fixed"
ANCHORS = ("flink", "judoscale", "aws", "keda_lag", "keda_lag_100", "keda_pending", "dask", "celery")
OTHERS = (FIXED, *ANCHORS)
BY_NAME = {shape.name: shape for shape in SHAPES}
EACH = 20
"""Fixed counts are all tried up to here, and from here on in steps of a tenth."""


class Heat(Struct, frozen=True, kw_only=True):
    """One load, and who is to meet it.

    Attributes:
        shape: The load's name.
        seed: What its chance is drawn from.
        world: The workers.
        against: Who else runs besides ours.
        interval: Seconds between our looks.
    """

    shape: str
    seed: int
    world: World
    against: tuple[str, ...]
    interval: int


class Outcome(Struct, frozen=True, kw_only=True):
    """What one policy made of one load.

    Attributes:
        policy: Its name.
        shape: The load's.
        seed: What chance was drawn from.
        score: The score J.
        avoidable: Share of entries that waited longer than the objective though a clairvoyant would have served them.
        late: Share of entries that waited longer than the objective.
        p50: The wait that half of the entries stay under, in seconds.
        p99: The wait that 99 of 100 entries stay under.
        worker_seconds: Workers paid for.
        actions: Changes of their number.
        flaps: Changes in the other direction within ten minutes.
        most: The most workers there were.
        ups_stuck: Looks at which workers were ordered while handlers stood still.
        downs_unknown: Looks at which workers were let go while the lag was unknown.
        false_caps: Looks at which the pool was called saturated though nothing behind it was.
    """

    policy: str
    shape: str
    seed: int
    score: float
    avoidable: float
    late: float
    p50: int
    p99: int
    worker_seconds: int
    actions: int
    flaps: int
    most: int
    ups_stuck: int
    downs_unknown: int
    false_caps: int


def heats(
    shapes: Iterable[str],
    seeds: Iterable[int],
    seeded: Seeded,
    *,
    world: World | None = None,
    against: tuple[str, ...] = (),
    interval: int = 5,
) -> list[Heat]:
    """Every shape under every seed; without a world, each seed has changed parameters of its own."""
    names = list(shapes)
    return [
        Heat(shape=shape, seed=seed, world=theirs, against=against, interval=interval)
        for seed in seeds
        for theirs in [world or changed(seeded(f"{seed}:3"))]
        for shape in names
    ]


def play(heat: Heat, seeded: Seeded) -> list[Outcome]:
    """Let everybody run."""
    shape, world = BY_NAME[heat.shape], heat.world
    counts = arrivals(shape, seeded(f"{heat.seed}:1"))
    bound = clairvoyant(shape, world, counts)
    outcomes = []
    for name, policy in contestants(world, heat.against, heat.interval):
        result = simulate(shape, world, counts, policy, seeded(f"{heat.seed}:2"))
        outcomes.append(_outcome(name, heat, shape, result, bound))
    return outcomes


def contestants(world: World, against: tuple[str, ...], interval: int) -> Iterable[tuple[str, Policy]]:
    """Ours, and the others by name; fixed numbers one after the other as ``fixed:N``."""
    yield OURS, Ours(configured(world), interval)
    anchors = all_anchors(world)
    yield from ((name, anchors[name]) for name in against if name != FIXED)
    if FIXED in against:
        yield from ((f"{FIXED}:{count}", Fixed(count)) for count in fixed_counts(world))


def fixed_counts(world: World) -> list[int]:
    """The numbers that are tried: each within the limits up to 20, about every tenth more from there on."""
    counts = [world.minimum]
    while counts[-1] < world.maximum:
        counts.append(min(world.maximum, counts[-1] + max(1, (counts[-1] - EACH) // 10 + 1)))
    return counts


def _outcome(name: str, heat: Heat, shape: Shape, result: Result, bound: Bound) -> Outcome:
    steps = result.steps
    limited = isfinite(shape.downstream(0))
    return Outcome(
        policy=name,
        shape=shape.name,
        seed=heat.seed,
        score=score(result, bound),
        avoidable=max(0.0, result.late - bound.late),
        late=result.late,
        p50=result.p50,
        p99=result.p99,
        worker_seconds=result.worker_seconds,
        actions=result.actions,
        flaps=result.flaps,
        most=result.most,
        ups_stuck=sum(step.wanted > step.ordered and not shape.speed(step.second) for step in steps),
        downs_unknown=sum(step.wanted < step.ordered and shape.unknown(step.second) for step in steps),
        false_caps=sum(step.why.startswith(ScaleCode.SATURATED) and not limited for step in steps),
    )
