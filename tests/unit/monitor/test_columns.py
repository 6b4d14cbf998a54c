from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from streamops.monitor.samples import SampleSeries, Tick
from tests.support.invented import NOW, seconds
from tests.support.tables import table

SPACING, LENGTH = seconds(5), 4


def column_of(*offsets: float) -> SampleSeries[float]:
    """A column that got a reading, worth its own time, at each of these seconds."""
    column: SampleSeries[float] | None = None
    for offset in offsets:
        tick = Tick(NOW + seconds(offset), SPACING, LENGTH)
        column = tick.begin(offset) if column is None else tick.append(column, offset)
    assert column is not None
    return column


@table(
    ("offsets", "kept"),
    [
        ([0], [0]),
        ([0, 1], [0, 1]),
        ([0, 1, 2], [0, 2]),
        ([0, 2, 4, 6], [0, 6]),
        ([0, 2, 4, 6, 8], [0, 6, 8]),
        ([0, 5, 10, 15], [0, 5, 10, 15]),
        ([0, 5, 10, 15, 20], [5, 10, 15, 20]),
        ([0, 60, 120, 180, 240, 241], [120, 180, 240, 241]),
        ([0, 60, 120, 180, 240, 241, 242], [120, 180, 240, 242]),
    ],
)
def test_the_newest_reading_gives_way_until_it_stands_the_spacing_away(
    offsets: list[float], kept: list[float]
) -> None:
    assert column_of(*offsets).values == tuple(kept)


@given(st.lists(st.floats(0.001, 60), min_size=1, max_size=40))
def test_a_column_is_short_and_true(steps: list[float]) -> None:
    offsets = [sum(steps[: place + 1]) for place in range(len(steps))]
    column = column_of(*offsets)
    assert len(column.values) == len(column.times) <= LENGTH
    assert column.values[-1] == offsets[-1]
    assert all(at == NOW + seconds(value) for at, value in zip(column.times, column.values, strict=True))
    assert column.span == column.times[-1] - column.times[0] >= timedelta(0)


def test_columns_read_at_the_same_times_share_them() -> None:
    first = Tick(NOW, SPACING, LENGTH)
    columns = [first.begin(number) for number in range(3)]
    for offset in (1, 7, 9, 20):
        tick = Tick(NOW + seconds(offset), SPACING, LENGTH)
        columns = [tick.append(column, offset) for column in columns]
        assert len({id(column.times) for column in columns}) == 1
