"""What a contest came to: each policy on each shape, over all seeds."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from msgspec import Struct
from msgspec.structs import replace

from streamops.scaling.simulator.contest import ANCHORS, FIXED, OURS, Outcome

ONE_FIXED = "fixed_one"
"""One number for all shapes: the best in hindsight, which nobody could have named without knowing all of them."""
EACH_FIXED = "fixed_each"
"""Another number for each load: the best score in hindsight, which takes knowing that load to the second."""
KEPT_FIXED = "fixed_kept"
"""Another number for each load: the fewest that serve 99 % of what can be in time; the best where none does."""
FIXED_ROWS = (EACH_FIXED, KEPT_FIXED, ONE_FIXED)
POLICIES = (OURS, *FIXED_ROWS, *ANCHORS)
KEPT = 0.01
"""Share of entries that may be late though they need not."""


class Standing(Struct, frozen=True, kw_only=True):
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


MEAN = "mean"


def standings(outcomes: Iterable[Outcome]) -> list[Standing]:
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


def _standing(runs: Sequence[Outcome], shape: str) -> Standing:
    return Standing(
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
