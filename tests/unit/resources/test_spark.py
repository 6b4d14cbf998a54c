"""Trends as block characters."""

from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.units import BLOCKS, LEAST_LAG, common_top, spark
from tests.support.tables import table


@table(
    ("trend", "width", "drawn"),
    [
        ((), 4, "    "),
        ((0, 0, 0), 3, "▁▁▁"),
        ((0, 1, 1_000_000), 3, "▁▂█"),
        ((None, 5, None), 3, " █ "),
        ((1, 2, 3, 4, 5, 6, 7), 7, "▂▃▄▅▆▇█"),
        ((9, 9, 7, 7), 2, "██"),
        ((3,), 4, "   █"),
        ((3,), 0, ""),
    ],
)
def test_a_trend_is_drawn_by_bars_of_its_width(trend: tuple[int | None, ...], width: int, drawn: str) -> None:
    assert spark(trend, width) == drawn


@table(
    ("trend", "top", "drawn"),
    [
        ((0, 1, 1), LEAST_LAG, "▁▂▂"),
        ((0, 5, 10), LEAST_LAG, "▁▅█"),
        ((0, 9, 30_000), 50_000, "▁▂▆"),
        ((0, 50, 100), 10, "▁▅█"),
    ],
)
def test_lines_with_one_top_can_be_compared(trend: tuple[int | None, ...], top: int, drawn: str) -> None:
    assert spark(trend, 3, top) == drawn


@given(st.integers(0, 10**15))
def test_a_common_top_is_round_and_not_far_above(number: int) -> None:
    top = common_top(number)
    assert max(number, 1) <= top <= max(2.5 * number, 1)
    assert str(top).rstrip("0") in {"1", "2", "5"}


@given(st.lists(st.none() | st.integers(0, 10**12), max_size=60), st.integers(1, 40))
def test_a_trend_fills_its_width_in_order_of_the_readings(trend: list[int | None], width: int) -> None:
    drawn = spark(trend, width)
    assert len(drawn) == width
    readings = trend[-width:]
    blocks = drawn[width - len(readings) :]
    known = [
        (reading, BLOCKS.index(block))
        for reading, block in zip(readings, blocks, strict=True)
        if reading is not None
    ]
    assert [block for _, block in sorted(known)] == sorted(block for _, block in known)
    assert all((block == 0) == (reading == 0) for reading, block in known)
