from collections.abc import Sequence
from random import Random

import pytest

from streamops.monitor.rates import Growth, lag_growth
from streamops.monitor.samples import SampleSeries
from tests.support.invented import NOW, minutes, seconds

MINUTE = minutes(1)


def trend(lags: Sequence[int | None], step: float = 5) -> SampleSeries[int | None]:
    return SampleSeries(tuple(NOW + seconds(step) * place for place in range(len(lags))), tuple(lags))


@pytest.mark.parametrize(
    ("column", "growth"),
    [
        pytest.param(trend(range(0, 130, 10)), Growth(0, MINUTE, steady=True), id="just long enough"),
        pytest.param(trend(range(0, 120, 10)), None, id="not long enough"),
        pytest.param(trend(range(0, 200, 10)), Growth(70, MINUTE, steady=True), id="longer: only the span"),
        pytest.param(trend([None, *range(0, 130, 10)]), Growth(0, MINUTE, steady=True), id="unknown before"),
        pytest.param(trend([0, *[None] * 11, 120]), None, id="unknown nearly always"),
        pytest.param(trend(range(9), step=60), Growth(0, minutes(8), steady=True), id="eight sparse steps"),
        pytest.param(trend(range(8), step=60), None, id="seven sparse steps"),
        pytest.param(trend([7] * 13), Growth(7, MINUTE, steady=False), id="level"),
        pytest.param(trend(range(120, -10, -10)), Growth(120, MINUTE, steady=False), id="falling"),
        pytest.param(trend([0] * 12 + [500]), Growth(0, MINUTE, steady=False), id="one burst"),
        pytest.param(trend([0, 90] * 6 + [100]), Growth(0, MINUTE, steady=False), id="a saw"),
        pytest.param(
            trend([0, 12, 18, 33, 41, 48, 60, 71, 77, 95, 99, 111, 120]),
            Growth(0, MINUTE, steady=True),
            id="uneven but steady",
        ),
    ],
)
def test_a_lag_grows_once_it_rose_for_long_enough(
    column: SampleSeries[int | None], growth: Growth | None
) -> None:
    assert lag_growth(column, MINUTE) == growth


def test_aimless_walks_are_hardly_ever_called_growing() -> None:
    """A lag adds up its steps: without any trend it still drifts, and that must not raise alarms."""
    random, alarms, walks = Random(2026), 0, 1_000
    for _ in range(walks):
        lags = [10_000]
        for _ in range(60):
            lags.append(lags[-1] + random.randint(-100, 100))
        growth = lag_growth(trend(lags), minutes(5))
        assert growth is not None
        alarms += growth.steady
    assert alarms / walks < 0.02
