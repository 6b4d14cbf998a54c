"""The simulator against figures of an independent implementation, and its parts by themselves."""

from functools import cache
from math import isclose, sqrt
from random import Random
from statistics import mean, pstdev

import pytest

from streamops.scaling.simulator.anchors import Fixed, all_anchors
from streamops.scaling.simulator.chance import binomial, normal, poisson
from streamops.scaling.simulator.oracle import Bound, clairvoyant
from streamops.scaling.simulator.policy import Policy
from streamops.scaling.simulator.score import score
from streamops.scaling.simulator.shapes import SHAPES, arrivals
from streamops.scaling.simulator.simulate import simulate
from streamops.scaling.simulator.world import World
from tests.support.scaling.golden import BOUNDS, RUNS, SEED
from tests.support.scaling.pools import seeded

WORLD = World()
BY_NAME = {shape.name: shape for shape in SHAPES}


@cache
def load(name: str) -> tuple[tuple[int, ...], Bound]:
    counts = arrivals(BY_NAME[name], seeded(SEED, 1))
    return counts, clairvoyant(BY_NAME[name], WORLD, counts)


def policy(name: str) -> Policy:
    return Fixed(5) if name == "fixed" else all_anchors(WORLD)[name]


@pytest.mark.parametrize("name", BOUNDS)
def test_clairvoyant_matches_the_independent_implementation(name: str) -> None:
    _, bound = load(name)
    late, paid = BOUNDS[name]
    assert isclose(bound.late, late, abs_tol=1e-6)
    assert isclose(bound.worker_seconds, paid, abs_tol=1e-3)


@pytest.mark.parametrize(("shape", "anchor"), RUNS)
def test_score_matches_the_independent_implementation(shape: str, anchor: str) -> None:
    counts, bound = load(shape)
    result = simulate(BY_NAME[shape], WORLD, counts, policy(anchor), seeded(SEED, 2))
    expected, late, *figures = RUNS[shape, anchor]
    assert isclose(score(result, bound), expected, abs_tol=1e-5)
    assert isclose(result.late, late, abs_tol=1e-6)
    assert figures == [
        result.p99,
        result.worker_seconds,
        result.actions,
        result.flaps,
        result.drained,
        result.most,
    ]


def test_simulation_with_the_same_seed_gives_the_same_run() -> None:
    shape = BY_NAME["burst50k"]
    counts, _ = load("burst50k")
    runs = [simulate(shape, WORLD, counts, policy("flink"), seeded(7, 2)) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("expected", [0.0, 0.5, 9.9, 10.0, 1_800.0])
def test_poisson_draws_have_its_mean_and_deviation(expected: float) -> None:
    chance = Random(1)
    draws = [poisson(chance, expected) for _ in range(1_000)]
    assert isclose(mean(draws), expected, abs_tol=5 * sqrt(expected / 1_000) + 1e-9)
    assert isclose(pstdev(draws), sqrt(expected), rel_tol=0.1)


def test_normal_and_binomial_draws_have_their_means() -> None:
    chance = Random(2)
    draws = [normal(chance, 10, 2) for _ in range(1_000)]
    assert isclose(mean(draws), 10, abs_tol=0.2)
    assert isclose(pstdev(draws), 2, rel_tol=0.1)
    assert isclose(mean(binomial(chance, 20, 0.25) for _ in range(1_000)), 5, abs_tol=0.2)
