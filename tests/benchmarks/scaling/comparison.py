"""Policies side by side: each on the same loads, by the same chance."""

from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from random import Random
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.simulation import FixedPolicy, OurPolicy, Policy, Result
from streamops.model.pools import ScaleCode
from tests.benchmarks.scaling.baselines import all_baselines
from tests.benchmarks.scaling.faults import simulate
from tests.benchmarks.scaling.score import Bound, clairvoyant, score
from tests.benchmarks.scaling.shapes import SHAPES, Shape, arrivals
from tests.benchmarks.scaling.worlds import World, perturbed

OURS = "ours"
FIXED = "fixed"
BASELINES = ("flink", "judoscale", "aws", "keda_lag", "keda_lag_100", "keda_pending", "dask", "celery")
OTHERS = (FIXED, *BASELINES)
ONE_FIXED = "fixed_one"
"""One number for all shapes: the best in hindsight, which nobody could have named without knowing all of them."""
EACH_FIXED = "fixed_each"
"""Another number for each load: the best score in hindsight, which takes knowing that load to the second."""
KEPT_FIXED = "fixed_kept"
"""Another number for each load: the fewest that serve 99 % of what can be in time; the best where none does."""
FIXED_ROWS = (EACH_FIXED, KEPT_FIXED, ONE_FIXED)
POLICIES = (OURS, *FIXED_ROWS, *BASELINES)
KEPT = 0.01
"""Share of entries that may be late though they need not."""
MEAN = "mean"
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
    *,
    world: World | None = None,
    against: tuple[str, ...] = (),
    interval: int = 5,
) -> list[Heat]:
    """Every shape under every seed; without a world, each seed has perturbed ones of its own."""
    names = list(shapes)
    return [
        Heat(shape=shape, seed=seed, world=theirs, against=against, interval=interval)
        for seed in seeds
        for theirs in [world or perturbed(Random(f"{seed}:3"))]
        for shape in names
    ]


def play(heat: Heat) -> list[Outcome]:
    """Let everybody run."""
    shape, world = BY_NAME[heat.shape], heat.world
    counts = arrivals(shape, Random(f"{heat.seed}:1"))
    bound = clairvoyant(shape, world, counts)
    outcomes = []
    for name, policy in contestants(world, heat.against, heat.interval):
        result = simulate(shape, world, counts, policy, Random(f"{heat.seed}:2"))
        outcomes.append(_outcome(name, heat, shape, result, bound))
    return outcomes


def contestants(world: World, against: tuple[str, ...], interval: int) -> Iterable[tuple[str, Policy]]:
    """Ours, and the others by name; fixed numbers one after the other as ``fixed:N``."""
    yield OURS, OurPolicy(world, interval)
    baselines = all_baselines(world)
    yield from ((name, baselines[name]) for name in against if name != FIXED)
    if FIXED in against:
        yield from ((f"{FIXED}:{count}", FixedPolicy(count)) for count in fixed_counts(world))


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
        actions=result.changes,
        flaps=result.reversals,
        most=result.most,
        ups_stuck=sum(step.wanted > step.ordered and not shape.speed(step.second) for step in steps),
        downs_unknown=sum(step.wanted < step.ordered and shape.unknown(step.second) for step in steps),
        false_caps=sum(step.why.startswith(ScaleCode.SATURATED) and not limited for step in steps),
    )


class DrillCounts(Struct, frozen=True, kw_only=True):
    """A policy on one shape, or on all of them: means over seeds, but the most of all for what is a maximum.

    Attributes:
        policy: Its name.
        shape: The shape's; ``mean`` for all of them.
        runs: How many runs that is.
        score: The score J.
        late: Share of entries that waited longer than the objective.
        p50: The wait that half of the entries stay under, in seconds.
        p99: The wait that 99 of 100 entries stay under.
        worker_hours: Workers paid for.
        actions: Changes of their number.
        flaps: Changes in the other direction within ten minutes.
        most: The most workers there were.
        ups_stuck: Looks at which workers were ordered while handlers stood still, in all.
        downs_unknown: Looks at which workers were let go while the lag was unknown, in all.
        false_caps: Looks at which the pool was called saturated though nothing was, in all.
    """

    policy: str
    shape: str
    runs: int
    score: float
    late: float
    p50: float
    p99: float
    worker_hours: float
    actions: float
    flaps: float
    most: int
    ups_stuck: int
    downs_unknown: int
    false_caps: int


def standings(outcomes: Iterable[Outcome]) -> list[DrillCounts]:
    """Each policy on each shape, in the order of ``POLICIES`` and of the shapes as they came, then on all of them."""
    by_policy: dict[str, list[Outcome]] = {}
    for outcome in _chosen(list(outcomes)):
        by_policy.setdefault(outcome.policy, []).append(outcome)
    found = []
    for policy in POLICIES:
        runs = by_policy.get(policy, [])
        found += [_standing(runs_of, shape) for shape, runs_of in _by_shape(runs).items()]
        found += [_standing(runs, MEAN)] if runs else []
    return found


def _by_shape(runs: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    shapes: dict[str, list[Outcome]] = {}
    for run in runs:
        shapes.setdefault(run.shape, []).append(run)
    return shapes


def _chosen(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes, with the fixed numbers that hindsight chooses in the place of all of them."""
    fixed = [outcome for outcome in outcomes if outcome.policy.startswith(f"{FIXED}:")]
    rest = [outcome for outcome in outcomes if not outcome.policy.startswith(f"{FIXED}:")]
    for runs in _grouped(fixed, lambda run: (run.seed, run.shape)):
        rest.append(replace(min(runs, key=_score), policy=EACH_FIXED))
        kept = [run for run in runs if run.avoidable <= KEPT]
        rest.append(replace(kept[0] if kept else min(runs, key=_score), policy=KEPT_FIXED))
    for runs in _grouped(fixed, lambda run: run.seed):
        numbers = _grouped(runs, lambda run: run.policy)
        rest += [replace(run, policy=ONE_FIXED) for run in min(numbers, key=lambda of: sum(map(_score, of)))]
    return rest


def _score(run: Outcome) -> float:
    return run.score


def _grouped(runs: Iterable[Outcome], key: Callable[[Outcome], object]) -> list[list[Outcome]]:
    groups: dict[object, list[Outcome]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return list(groups.values())


def _standing(runs: Sequence[Outcome], shape: str) -> DrillCounts:
    return DrillCounts(
        policy=runs[0].policy,
        shape=shape,
        runs=len(runs),
        score=fmean(run.score for run in runs),
        late=fmean(run.late for run in runs),
        p50=fmean(run.p50 for run in runs),
        p99=fmean(run.p99 for run in runs),
        worker_hours=fmean(run.worker_seconds for run in runs) / 3600,
        actions=fmean(run.actions for run in runs),
        flaps=fmean(run.flaps for run in runs),
        most=max(run.most for run in runs),
        ups_stuck=sum(run.ups_stuck for run in runs),
        downs_unknown=sum(run.downs_unknown for run in runs),
        false_caps=sum(run.false_caps for run in runs),
    )
