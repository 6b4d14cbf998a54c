"""Tiers of lags, the replay, and the shared budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.autoscaling.policy.budget import BudgetState, Claim, pressure, share
from streamops.autoscaling.policy.config import Tuning
from streamops.autoscaling.policy.readings import at_least, forecast, phantom, waiting, worst_wait
from streamops.autoscaling.policy.state import Sample
from streamops.model.lag import Lag, LagBasis
from tests.support.autoscaling.policy.pools import UNKNOWN, demand
from tests.support.invented import exact


@pytest.mark.parametrize(
    ("lag", "empty", "expected"),
    [
        pytest.param(exact(7), False, (7, 7, False), id="exact"),
        pytest.param(Lag(7, 7, 7, LagBasis.REPORTED, ""), False, (7, 7, False), id="reported"),
        pytest.param(Lag(None, 5, None, LagBasis.LOWER, ""), False, (None, 5, False), id="at least"),
        pytest.param(Lag(None, 0, 9, LagBasis.UPPER, ""), False, (None, 0, False), id="at most"),
        pytest.param(Lag(None, 0, 0, LagBasis.UPPER, ""), False, (0, 0, False), id="at most none"),
        pytest.param(Lag(7, None, None, LagBasis.ESTIMATED, ""), False, (None, 0, False), id="estimated"),
        pytest.param(UNKNOWN, False, (None, 0, False), id="unknown"),
        pytest.param(UNKNOWN, True, (0, 0, False), id="unknown, nothing there"),
        pytest.param(exact(7), True, (0, 0, True), id="phantom"),
    ],
)
def test_a_lag_of_each_basis_tells_what_waits_at_least(
    lag: Lag,
    empty: bool,  # noqa: FBT001
    expected: tuple[int | None, int, bool],
) -> None:
    reading = demand(lag=lag, probed_empty=empty)
    assert (waiting(reading), at_least(reading), phantom(reading)) == expected


def samples(counts: list[int], level: float, step: float = 5.0) -> tuple[Sample, ...]:
    return tuple(
        Sample(place * step, 0, 0, 0, 1, 1, level, count / step, 0.0) for place, count in enumerate(counts)
    )


def test_a_replay_takes_a_burst_for_sudden() -> None:
    assert worst_wait(samples([0, 500, 6_500, 500], 100.0), 200.0, 1) == pytest.approx(30.0)


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=30), st.integers(1, 20))
def test_more_workers_never_make_a_replay_worse(counts: list[int], workers: int) -> None:
    past = samples(counts, 100.0)
    assert worst_wait(past, 200.0, workers + 1) <= worst_wait(past, 200.0, workers)


def claim(pool: str, **changes: object) -> Claim:
    return Claim(**{"pool": pool, "minimum": 1, "wanted": 4, "ordered": 1, "rate": 100.0, **changes})  # type: ignore[arg-type]


def test_a_budget_that_suffices_gives_everybody_what_he_wants() -> None:
    claims = (claim("a", wanted=3), claim("b", wanted=5), claim("c", minimum=0, wanted=0, ordered=2))
    assert share(20, BudgetState(), claims)[1] == {"a": 3, "b": 5, "c": 0}


def test_what_is_left_goes_to_the_longest_wait() -> None:
    claims = (claim("a", backlog=90_000), claim("b", backlog=9_000))
    assert share(5, BudgetState(), claims)[1] == {"a": 4, "b": 1}


def test_a_scarce_budget_is_shared_by_weight() -> None:
    claims = (claim("a", backlog=9_000), claim("b", backlog=9_000, weight=10.0))
    assert share(4, BudgetState(), claims)[1] == {"a": 1, "b": 3}


def test_the_frozen_get_nothing_and_lose_nothing() -> None:
    claims = (claim("a", ordered=2, frozen=True, backlog=10**6), claim("b", backlog=100))
    assert share(5, BudgetState(), claims)[1] == {"a": 2, "b": 3}


def test_a_running_worker_moves_only_when_two_readings_agree() -> None:
    claims = (claim("a", ordered=4, backlog=0), claim("b", ordered=1, backlog=50_000))
    considered, shares = share(5, BudgetState(), claims)
    assert shares == {"a": 4, "b": 1}
    assert share(5, considered, claims)[1] == {"a": 3, "b": 2}


def test_a_smaller_budget_takes_from_where_it_is_missed_least() -> None:
    claims = (claim("a", ordered=4, backlog=0), claim("b", ordered=4, backlog=50_000))
    assert share(6, BudgetState(), claims)[1] == {"a": 2, "b": 4}


CLAIMS = st.lists(
    st.builds(
        Claim,
        pool=st.text("abcdefgh", min_size=1, max_size=4),
        minimum=st.integers(0, 3),
        wanted=st.integers(0, 20),
        ordered=st.integers(0, 20),
        weight=st.floats(0.1, 10),
        backlog=st.integers(0, 10**6),
        coming=st.floats(0, 10**4),
        rate=st.sampled_from([0.0, 1.0, 250.0]),
        frozen=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda each: each.pool,
).map(tuple)


@given(st.integers(0, 60), CLAIMS)
def test_a_budget_is_kept_and_so_are_minimums(budget: int, claims: tuple[Claim, ...]) -> None:
    _, shares = share(budget, BudgetState(), claims)
    least = sum(each.minimum for each in claims)
    assert sum(shares.values()) <= max(budget, least)
    for each in claims:
        assert each.minimum <= shares[each.pool] <= max(each.most, each.kept)


@given(CLAIMS, st.integers(1, 20))
def test_pressure_falls_with_workers(claims: tuple[Claim, ...], workers: int) -> None:
    assert all(pressure(each, workers + 1) <= pressure(each, workers) for each in claims)


def test_forecast_of_falling_arrivals_is_their_mean() -> None:
    falling = tuple(Sample(at, 0, 0, 0, 1, 1, 50.0, 100.0 - at, 0.0) for at in (0.0, 5.0, 10.0, 15.0, 20.0))
    assert forecast(falling, 30.0, Tuning()) == 50.0
