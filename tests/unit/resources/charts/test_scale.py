import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.charts.scale import Unit, scale, words
from tests.support.tables import table


@table(
    ("greatest", "unit", "intervals", "labels"),
    [
        (0, Unit.COUNT, 2, ["0", "1", "2"]),
        (1, Unit.COUNT, 2, ["0", "1", "2"]),
        (3, Unit.COUNT, 2, ["0", "2", "4"]),
        (7, Unit.COUNT, 4, ["0", "2", "4", "6", "8"]),
        (1204, Unit.COUNT, 2, ["0", "800", "1,600"]),
        (1100, Unit.COUNT, 2, ["0", "600", "1,200"]),
        (1_203_551, Unit.COUNT, 4, ["0", "400k", "800k", "1.2M", "1.6M"]),
        (0.3, Unit.RATE, 2, ["0", "0.15", "0.30"]),
        (118.2, Unit.RATE, 2, ["0", "60", "120"]),
        (0, Unit.RATE, 2, ["0", "0.01", "0.02"]),
        (0.4, Unit.SECONDS, 2, ["0", "200ms", "400ms"]),
        (42 * 60, Unit.SECONDS, 2, ["0", "30m", "1h"]),
        (372, Unit.SECONDS, 4, ["0", "2m", "4m", "6m", "8m"]),
        (90 * 86400, Unit.SECONDS, 2, ["0", "50d", "100d"]),
    ],
)
def test_the_ticks_of_an_axis_are_round_numbers(
    greatest: float, unit: Unit, intervals: int, labels: list[str]
) -> None:
    assert [text for _, text in scale(greatest, unit, intervals).ticks] == labels


@given(
    st.floats(0, 1e18, allow_nan=False),
    st.sampled_from(list(Unit)),
    st.integers(1, 6),
)
def test_every_axis_begins_at_nought_and_holds_its_values(
    greatest: float, unit: Unit, intervals: int
) -> None:
    axis = scale(greatest, unit, intervals)
    assert axis.ticks[0] == (0.0, "0")
    assert axis.top >= greatest * (1 - 1e-9)
    assert axis.top > 0
    assert len(axis.ticks) == intervals + 1
    # Round does not mean far too high: no more than half the field is empty but for the least steps.
    assert axis.top <= max(
        greatest * 2.6, {Unit.COUNT: 1, Unit.RATE: 0.01, Unit.SECONDS: 0.01}[unit] * intervals
    )
    assert all(text for _, text in axis.ticks)


@pytest.mark.parametrize("value", [1e300, 1e18])
def test_absurd_spans_have_words(value: float) -> None:
    assert words(value, Unit.SECONDS)
