"""The simulated workers: what slots do in a second, and that a run can be repeated."""

from math import isclose, sqrt
from random import Random
from statistics import fmean, pstdev

from streamops.autoscaling.simulation import OurPolicy, Simulation, normal
from tests.support.autoscaling.policy.pools import WORKERS

SECONDS, WARM = 500, 50


def test_rate_and_spread_are_those_of_slots_that_handle_one_entry_after_the_other() -> None:
    chance, counts = Random(3), [0] * (SECONDS + WARM)
    for _ in range(WORKERS.slots):
        now = 0.0
        while (now := now + chance.uniform(0.05, 0.10)) < SECONDS + WARM:
            counts[int(now)] += 1
    assert isclose(fmean(counts[WARM:]), WORKERS.rate, rel_tol=0.04)
    # A second is a dozen handlings, not infinitely many: entries cut by its ends add a little to small spreads.
    assert isclose(pstdev(counts[WARM:]), sqrt(WORKERS.spread**2 + WORKERS.slots / 6), rel_tol=0.2)


def test_same_chance_gives_the_same_run() -> None:
    counts = (*[100] * 120, 50_000, *[100] * 600)
    runs = [Simulation(WORKERS, counts, OurPolicy(WORKERS), Random(7)).run() for _ in range(2)]
    assert runs[0] == runs[1]
    assert runs[0].entries == sum(counts)
    assert runs[0].most > 1


def test_normal_draws_have_their_mean_and_deviation() -> None:
    chance = Random(2)
    draws = [normal(chance, 10, 2) for _ in range(1_000)]
    assert isclose(fmean(draws), 10, abs_tol=0.2)
    assert isclose(pstdev(draws), 2, rel_tol=0.1)
