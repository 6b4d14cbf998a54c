"""Tiers of lags, and the replay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.autoscaling.policy.state import Sample
from streamops.autoscaling.policy.view import worst_wait
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
    assert (reading.waiting, reading.backlog, reading.phantom) == expected


def samples(counts: list[int], level: float, step: float = 5.0) -> tuple[Sample, ...]:
    return tuple(
        Sample(place * step, 0, 0, 0, 1, level, count / step, 0.0) for place, count in enumerate(counts)
    )


def test_a_replay_takes_a_burst_for_sudden() -> None:
    assert worst_wait(samples([0, 500, 6_500, 500], 100.0), 200.0, 1) == pytest.approx(30.0)


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=30), st.integers(1, 20))
def test_more_workers_never_make_a_replay_worse(counts: list[int], workers: int) -> None:
    past = samples(counts, 100.0)
    assert worst_wait(past, 200.0, workers + 1) <= worst_wait(past, 200.0, workers)
