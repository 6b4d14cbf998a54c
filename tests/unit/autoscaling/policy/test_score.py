"""The policy under simulated loads, on a seed that nothing was tuned on; ``python -m tests.benchmarks.scaling`` compares its scores."""

from functools import cache

from streamops.autoscaling.simulation import OurPolicy, Result
from streamops.model.pools import ScaleCode
from tests.benchmarks.scaling.faults import simulate
from tests.benchmarks.scaling.score import clairvoyant, score
from tests.benchmarks.scaling.shapes import SHAPES, Shape, arrivals
from tests.benchmarks.scaling.worlds import World, perturbed
from tests.support.autoscaling.policy.pools import seeded

WORLD = World()
SEED = 77_001
BY_NAME = {shape.name: shape for shape in SHAPES}
TELLING = ("downstream", "poison", "lag_nil")
"""A limit behind the handlers, handlers that stand still, and a lag that the server does not know."""


class Outcome:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        counts = arrivals(shape, seeded(SEED, 1))
        ours = OurPolicy(WORLD, 15)
        self.result: Result = simulate(shape, WORLD, counts, ours, seeded(SEED, 2))
        self.score = score(self.result, clairvoyant(shape, WORLD, counts))
        self.codes = [step.why.partition(": ")[0] for step in self.result.steps]


@cache
def outcomes() -> list[Outcome]:
    return [Outcome(BY_NAME[name]) for name in TELLING]


def test_mean_score_is_far_below_that_of_a_fixed_pool() -> None:
    assert sum(outcome.score for outcome in outcomes()) / len(TELLING) <= 2.5


def test_pool_whose_workers_do_not_help_is_not_grown_to_its_limit() -> None:
    """Each order begins the trial anew, so that none may be made while those ordered last do not help."""
    shape, world = BY_NAME["downstream"], perturbed(seeded(1018, 3))
    assert world.maximum > 75
    counts = arrivals(shape, seeded(1018, 1))
    result = simulate(shape, world, counts, OurPolicy(world, 15), seeded(1018, 2))
    assert result.most < world.maximum / 2


def test_no_worker_is_let_go_while_the_lag_is_unknown() -> None:
    unknown = [
        (outcome.shape, step)
        for outcome in outcomes()
        for step in outcome.result.steps
        if outcome.shape.unknown(step.second)
    ]
    assert unknown
    assert all(step.wanted >= step.ordered for _, step in unknown)


def test_no_worker_is_ordered_while_handlers_stand_still() -> None:
    still = [
        step
        for outcome in outcomes()
        for step in outcome.result.steps
        if not outcome.shape.speed(step.second)
    ]
    assert still
    assert all(step.wanted <= step.ordered for step in still)


def test_saturation_is_found_only_where_more_workers_do_not_help() -> None:
    found = {outcome.shape.name for outcome in outcomes() if ScaleCode.SATURATED in outcome.codes}
    assert found == {"downstream"}


def test_every_decision_is_within_the_limits_and_gives_a_figure() -> None:
    for outcome in outcomes():
        for step in outcome.result.steps:
            assert WORLD.minimum <= step.wanted <= WORLD.maximum
            assert any(letter.isdigit() for letter in step.why), step
