"""What the scaling policy is worth, and what it costs: ``python -m tests.benchmarks.scaling``.

Nothing was tuned on these seeds. ``--seeds N`` runs more or fewer of them; the figures of docs/autoscaling.md are of ten.
``--without RULE`` scores ours alone with a rule of the policy switched off: ``saturated``, ``arrivals``, ``excused`` (rule
``backlog`` without earlier peaks), or any other by its name.
"""

import gc
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from random import Random
from statistics import fmean, quantiles
from time import perf_counter_ns, process_time

from streamops.autoscaling.policy import rules
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.simulation import OurPolicy
from streamops.model.pools import Demand
from tests.benchmarks.scaling.comparison import (
    BY_NAME,
    MEAN,
    OTHERS,
    OURS,
    DrillCounts,
    Outcome,
    heats,
    play,
    standings,
)
from tests.benchmarks.scaling.faults import simulate
from tests.benchmarks.scaling.shapes import arrivals
from tests.benchmarks.scaling.worlds import World

FIRST_SEED = 424_242
PERTURBED_SEED = 515_151
SEEDS = 10
WORLDS = 100
"""Perturbed parameters that ours is scored in; the others run in a tenth of them."""
INTERVALS = (5, 15)
POOLS = 1_000
TURNS = 12
DAY = 240
"""Readings before ``decide`` is timed: more than the memory of a quarter of an hour holds."""


def main() -> None:
    """Print scores, then costs."""
    seeds = int(sys.argv[sys.argv.index("--seeds") + 1]) if "--seeds" in sys.argv else SEEDS
    if "--without" in sys.argv:
        rule = sys.argv[sys.argv.index("--without") + 1]
        with ProcessPoolExecutor(initializer=switch_off, initargs=(rule,)) as pool:
            print_ours(pool, seeds)
        return
    with ProcessPoolExecutor() as pool:
        print_shapes(pool, seeds)
        print_perturbed(pool, max(1, WORLDS * seeds // SEEDS))
    print_costs()


def switch_off(rule: str) -> None:
    """Have a rule of the policy never speak, in this process."""
    if all(one.__name__ != rule for one in rules.RULES):
        rule = f"_{rule}"
    getattr(rules, rule)  # one that is not there is an error
    setattr(rules, rule, lambda _: None)
    rules.RULES = tuple(one for one in rules.RULES if one.__name__ != rule)  # type: ignore[misc] # a benchmark's


def print_ours(pool: ProcessPoolExecutor, seeds: int) -> None:
    """Ours alone, on the shapes and in perturbed worlds."""
    shapes, worlds = range(FIRST_SEED, FIRST_SEED + seeds), WORLDS * seeds // SEEDS
    for name, chosen, world in (
        ("shapes", shapes, World()),
        ("perturbed", range(PERTURBED_SEED, PERTURBED_SEED + worlds), None),
    ):
        for interval in INTERVALS:
            found = _scored(pool, chosen, world, (), interval)
            (mean,) = [each.score for each in found if each.shape == MEAN]
            print(f"{name} at {interval} s: mean J {mean:.3f}")
            _print_guards(found, f"{interval} s")


def print_shapes(pool: ProcessPoolExecutor, seeds: int) -> None:
    """The fourteen shapes: ours at both intervals, and everybody else."""
    print(f"Fourteen shapes, {seeds} seeds, mean J (1 is a clairvoyant's)")
    chosen = range(FIRST_SEED, FIRST_SEED + seeds)
    found = _scored(pool, chosen, World(), OTHERS, INTERVALS[0])
    slower = _scored(pool, chosen, World(), (), INTERVALS[1])
    _print_table(found, slower)
    _print_guards(found, "5 s")
    _print_guards(slower, "15 s")


def print_perturbed(pool: ProcessPoolExecutor, worlds: int) -> None:
    """Perturbed parameters: ours in all of the worlds, everybody in a tenth of them."""
    chosen = range(PERTURBED_SEED, PERTURBED_SEED + worlds)
    print(f"\nPerturbed parameters: {worlds} worlds, fourteen shapes in each")
    for interval in INTERVALS:
        outcomes = _played(pool, chosen, None, (), interval)
        scores = [fmean(run.score for run in outcomes if run.seed == seed) for seed in chosen]
        print(
            f"ours at {interval} s: mean J {fmean(scores):.3f}, "
            f"worst world {max(scores):.3f}, worlds above 1.9: {sum(score > 1.9 for score in scores)}"
        )
        _print_guards(standings(outcomes), f"{interval} s")
    few = range(PERTURBED_SEED, PERTURBED_SEED + max(1, worlds // 10))
    found = _scored(pool, few, None, OTHERS, INTERVALS[0])
    print(f"everybody in the first {len(few)} of them:")
    print("  ".join(f"{each.policy} {each.score:.2f}" for each in found if each.shape == MEAN))


def _scored(
    pool: ProcessPoolExecutor,
    seeds: Sequence[int],
    world: World | None,
    against: tuple[str, ...],
    interval: int,
) -> list[DrillCounts]:
    return standings(_played(pool, seeds, world, against, interval))


def _played(
    pool: ProcessPoolExecutor,
    seeds: Sequence[int],
    world: World | None,
    against: tuple[str, ...],
    interval: int,
) -> list[Outcome]:
    loads = heats(BY_NAME, seeds, world=world, against=against, interval=interval)
    return [outcome for outcomes in pool.map(play, loads) for outcome in outcomes]


def _print_table(found: Sequence[DrillCounts], slower: Sequence[DrillCounts]) -> None:
    policies = list(dict.fromkeys(each.policy for each in found))
    scores = {(each.policy, each.shape): each.score for each in found}
    late = {each.shape: each.score for each in slower}
    titles = ["ours, 5 s", "ours, 15 s", *policies[1:]]
    print(f"{'':10} " + " ".join(f"{title:>12}" for title in titles))
    for shape in (*BY_NAME, MEAN):
        row = [scores[OURS, shape], late[shape], *(scores[policy, shape] for policy in policies[1:])]
        print(f"{shape:10} " + " ".join(f"{score:12.2f}" for score in row))


def _print_guards(found: Iterable[DrillCounts], name: str) -> None:
    ours = next(each for each in found if each.policy == OURS and each.shape == MEAN)
    print(
        f"ours at {name}, {ours.runs} runs: {ours.ups_stuck} ups while stuck, {ours.downs_unknown} downs on an unknown "
        f"lag, {ours.false_caps} false caps"
    )


class _Recorder(OurPolicy):
    """Ours, which keeps what it was asked."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.asked: list[Demand] = []

    def decide(self, demand: Demand) -> tuple[int, str]:
        self.asked.append(demand)
        return super().decide(demand)


def print_costs() -> None:
    """What one call of ``decide`` takes, and a thousand pools on one core."""
    world = World()
    readings = {name: _readings(name, world) for name in BY_NAME}
    print("\nCost of decide, a memory of 15 minutes filled by readings 5 s apart")
    for timer, kind in ((perf_counter_ns, "wall"), (_processor_ns, "processor")):
        spans = [span for each in readings.values() for span in _timed(each, world, timer)]
        cuts = quantiles(spans, n=1_000)
        print(
            f"{kind}: mean {fmean(spans) / 1e3:.0f} µs, p50 {cuts[499] / 1e3:.0f} µs, p99 {cuts[989] / 1e3:.0f} µs, "
            f"p99.9 {cuts[998] / 1e3:.0f} µs of {len(spans):,} calls (limits: mean 200 µs, p99 3,000 µs)"
        )
    share = _share_of_a_core(list(readings.values()), world)
    print(f"{POOLS:,} pools every 5 s: {share:.1%} of a core (limit 20 %, with everything a controller does)")


def _processor_ns() -> int:
    return int(process_time() * 1e9)


def _readings(name: str, world: World) -> list[Demand]:
    recorder = _Recorder(world)
    shape = BY_NAME[name]
    counts = arrivals(shape, Random(f"{FIRST_SEED}:1"))
    simulate(shape, world, counts, recorder, Random(f"{FIRST_SEED}:2"))
    return recorder.asked


def _timed(readings: Sequence[Demand], world: World, timer: Callable[[], int]) -> list[int]:
    """Each call after the memory is full, in nanoseconds."""
    config, state, spans = OurPolicy(world).config, ScalingState(), []
    for place, demand in enumerate(readings):
        began = timer()
        state, _ = decide(config, state, demand)
        if place >= DAY:
            spans.append(timer() - began)
    return spans


def _share_of_a_core(readings: Sequence[Sequence[Demand]], world: World) -> float:
    """Processor time of a thousand pools, each on a load of its own place, over the time between their looks."""
    config = OurPolicy(world).config
    states, places = [ScalingState()] * POOLS, [DAY] * POOLS
    loads = [readings[number % len(readings)] for number in range(POOLS)]
    warm: dict[int, ScalingState] = {}
    for number in range(len(readings)):
        state = ScalingState()
        for demand in loads[number][:DAY]:
            state, _ = decide(config, state, demand)
        warm[number] = state
    states = [warm[number % len(readings)] for number in range(POOLS)]
    gc.collect()
    began = process_time()
    for _ in range(TURNS):
        for number in range(POOLS):
            states[number], _ = decide(config, states[number], loads[number][places[number]])
            places[number] += 1
    return (process_time() - began) / (TURNS * INTERVALS[0])


if __name__ == "__main__":
    main()
