"""Handler times: their moments, and that these are what a second's work depends on."""

from collections.abc import Callable
from math import exp, inf, isclose, log, nan, sqrt
from random import Random
from statistics import fmean, pstdev

import pytest

from streamops.scaling.simulator.chance import normal
from streamops.scaling.simulator.changed import changed
from streamops.scaling.simulator.handling import Handling, between, lognormal, pareto

SLOTS, SECONDS, WARM = 8, 500, 50


def drawn_lognormal(chance: Random) -> float:
    sigma = 1.0
    return exp(normal(chance, log(0.075) - sigma**2 / 2, sigma))


def drawn_pareto(chance: Random) -> float:
    tail = 4.0
    return float(0.075 * (tail - 1) / tail * (1 - chance.random()) ** (-1 / tail))


def drawn_uniform(chance: Random) -> float:
    return 0.05 + 0.05 * chance.random()


def handled(draw: Callable[[Random], float], chance: Random) -> list[int]:
    """What slots that draw the time of each entry finish in each second."""
    counts = [0] * (SECONDS + WARM)
    for _ in range(SLOTS):
        now = 0.0
        while (now := now + draw(chance)) < SECONDS + WARM:
            counts[int(now)] += 1
    return counts[WARM:]


@pytest.mark.parametrize(
    ("handling", "draw"),
    [
        (between(0.05, 0.10), drawn_uniform),
        (lognormal(0.075, 1.0), drawn_lognormal),
        (pareto(0.075, 4.0), drawn_pareto),
    ],
    ids=lambda each: each.kind if isinstance(each, Handling) else "",
)
def test_moments_tell_what_slots_do_in_a_second(handling: Handling, draw: Callable[[Random], float]) -> None:
    counts = handled(draw, Random(3))
    assert isclose(fmean(counts), handling.rate(SLOTS), rel_tol=0.04)
    # A second is a dozen handlings, not infinitely many: entries cut by its ends add a little to small spreads.
    assert isclose(pstdev(counts), sqrt(handling.spread(SLOTS) ** 2 + SLOTS / 6), rel_tol=0.2)


@pytest.mark.parametrize("tail", [2.0, 1.5, nan])
def test_a_tail_without_a_variance_is_refused(tail: float) -> None:
    with pytest.raises(ValueError, match="no finite variance"):
        pareto(0.075, tail)


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (inf, 1.0), (1.0, inf), (1.0, -1.0), (nan, 1.0)])
def test_times_that_make_no_sense_are_refused(mean: float, deviation: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        Handling(mean, deviation, "odd")


def test_changed_worlds_are_within_their_ranges() -> None:
    worlds = [changed(Random(f"{seed}:3")) for seed in range(60)]
    for world in worlds:
        assert 20 <= world.objective <= 120
        assert 2 <= 20 * world.late <= min(60, world.objective + 0.5)
        assert 4 <= world.slots <= 64
        assert 3 <= world.maximum <= 100
    assert {world.handling.kind for world in worlds} == {"uniform", "lognormal", "pareto"}
    assert max(world.handling.deviation / world.handling.mean for world in worlds) > 2
