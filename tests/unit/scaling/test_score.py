"""How good the policy is, on seeds that nothing was tuned on."""

from functools import cache

import pytest

from streamops.model.scaling import ScaleCode
from streamops.scaling.simulator.changed import changed
from streamops.scaling.simulator.handling import between
from streamops.scaling.simulator.oracle import clairvoyant
from streamops.scaling.simulator.ours import Ours, configured
from streamops.scaling.simulator.result import Result
from streamops.scaling.simulator.score import score
from streamops.scaling.simulator.shapes import SHAPES, Shape, arrivals
from streamops.scaling.simulator.simulate import simulate
from streamops.scaling.simulator.world import World
from tests.support.scaling.pools import seeded

WORLD = World()
SEED = 77_001


OTHERS = (
    World(objective=60.0, late=2.0),
    World(objective=20.0, late=0.1, slots=64, maximum=6),
    World(objective=120.0, maximum=100, handling=between(0.02, 0.4)),
)


class Outcome:
    def __init__(self, shape: Shape, interval: int, world: World = WORLD) -> None:
        self.shape = shape
        counts = arrivals(shape, seeded(SEED, 1))
        ours = Ours(configured(world), interval)
        self.result: Result = simulate(shape, world, counts, ours, seeded(SEED, 2))
        self.score = score(self.result, clairvoyant(shape, world, counts))
        self.codes = [decision.code for decision in ours.decisions]


@cache
def outcomes(interval: int) -> list[Outcome]:
    return [Outcome(shape, interval) for shape in SHAPES]


@pytest.mark.parametrize(("interval", "limit"), [(5, 1.75), (15, 1.9)])
def test_the_mean_score(interval: int, limit: float) -> None:
    scores = [outcome.score for outcome in outcomes(interval)]
    assert sum(scores) / len(scores) <= limit


def test_the_mean_score_in_other_worlds() -> None:
    worlds = [*OTHERS, *(changed(seeded(SEED + number, 3)) for number in range(2))]
    found = [Outcome(shape, 5, world) for world in worlds for shape in SHAPES]
    assert sum(outcome.score for outcome in found) / len(found) <= 1.9
    capped = {outcome.shape.name for outcome in found if ScaleCode.SATURATED in outcome.codes}
    assert capped <= {"downstream"}


@pytest.mark.parametrize("number", [1018, 1025])
def test_a_pool_whose_workers_do_not_help_is_not_grown_to_its_limit(number: int) -> None:
    """Each order begins the trial anew, so that none may be made while those ordered last do not help."""
    shape = next(shape for shape in SHAPES if shape.name == "downstream")
    world = changed(seeded(number, 3))
    assert world.maximum > 75
    result = simulate(
        shape, world, arrivals(shape, seeded(number, 1)), Ours(configured(world), 15), seeded(number, 2)
    )
    assert result.most < world.maximum / 2


def test_nothing_is_let_go_while_the_lag_is_unknown() -> None:
    for outcome in outcomes(5):
        for step in outcome.result.steps:
            if outcome.shape.unknown(step.second):
                assert step.wanted >= step.ordered, step


def test_nothing_is_ordered_while_handlers_stand_still() -> None:
    for outcome in outcomes(5):
        for step in outcome.result.steps:
            if not outcome.shape.speed(step.second):
                assert step.wanted <= step.ordered, step


def test_saturation_is_found_where_it_is_and_nowhere_else() -> None:
    found = {outcome.shape.name for outcome in outcomes(5) if ScaleCode.SATURATED in outcome.codes}
    assert found == {"downstream"}


def test_every_step_is_within_the_limits_and_says_why() -> None:
    for outcome in outcomes(15):
        for step in outcome.result.steps:
            assert WORLD.minimum <= step.wanted <= WORLD.maximum
            assert any(letter.isdigit() for letter in step.why), step
