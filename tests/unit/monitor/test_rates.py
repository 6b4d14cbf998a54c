from statistics import linear_regression

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import EntryId
from streamops.monitor.rates import acknowledgements, arrival_rate, arrivals, deliveries, slope
from streamops.monitor.samples import GroupSample, SampleSeries, StreamSample
from tests.support.invented import NOW, seconds
from tests.support.tables import table

A, B, C = EntryId(1, 0), EntryId(2, 0), EntryId(3, 0)


def of_stream(
    length: int = 10, first: EntryId | None = A, last: EntryId | None = B, added: int | None = None
) -> StreamSample:
    return StreamSample(length, first, last, added, None)


@pytest.mark.parametrize(
    ("earlier", "later", "added"),
    [
        pytest.param(of_stream(added=5), of_stream(added=9), 4, id="counted"),
        pytest.param(of_stream(added=9), of_stream(added=5), None, id="counter fell"),
        pytest.param(of_stream(added=5), of_stream(), 0, id="counted once, nothing new"),
        pytest.param(of_stream(10), of_stream(14, last=C), 4, id="grew behind the same first entry"),
        pytest.param(of_stream(10), of_stream(9), 0, id="nothing new, one deleted"),
        pytest.param(of_stream(10), of_stream(10, last=C), None, id="something new, as much deleted"),
        pytest.param(of_stream(10), of_stream(14, first=B, last=C), None, id="the first entry went"),
        pytest.param(of_stream(0, first=None), of_stream(4, last=C), None, id="was empty"),
        pytest.param(of_stream(last=None), of_stream(14), None, id="no IDs known"),
    ],
)
def test_arrivals_between_two_samples_are_counted_or_bounded(
    earlier: StreamSample, later: StreamSample, added: int | None
) -> None:
    assert arrivals(earlier, later) == added


def of_group(
    position: EntryId = A,
    read: int | None = None,
    pending: int = 0,
    lag: int | None = None,
    added: int | None = None,
) -> GroupSample:
    """A group of a stream of ten entries."""
    return GroupSample(of_stream(added=added), position, read, pending, lag)


@pytest.mark.parametrize(
    ("earlier", "later", "added", "delivered"),
    [
        pytest.param(of_group(), of_group(), None, 0, id="the position stood"),
        pytest.param(of_group(read=3), of_group(B, read=8), None, 5, id="by the counter"),
        pytest.param(
            of_group(read=3, added=13),
            of_group(B, read=8, added=13),
            0,
            5,
            id="three are gone, and were counted",
        ),
        pytest.param(
            of_group(read=3, added=14), of_group(B, read=9, added=14), 0, None, id="one is gone that was not"
        ),
        pytest.param(of_group(read=3), of_group(B, read=9, added=14), None, None, id="one may be gone"),
        pytest.param(of_group(lag=4), of_group(B, lag=2), 3, 5, id="by the lags"),
        pytest.param(
            of_group(read=3, lag=4), of_group(B, read=5, lag=0), 3, 2, id="lags count lost ones too"
        ),
        pytest.param(of_group(read=3, lag=4), of_group(B, read=9, lag=2), 0, 2, id="the counter jumped"),
        pytest.param(of_group(read=8, lag=4), of_group(B, read=3, lag=2), 3, 5, id="the counter fell"),
        pytest.param(of_group(lag=2), of_group(B, lag=9), 3, None, id="the lag grew by more than came"),
        pytest.param(of_group(lag=4), of_group(B, lag=2), None, None, id="arrivals unknown"),
        pytest.param(of_group(lag=4), of_group(B), 3, None, id="lag unknown"),
        pytest.param(of_group(), of_group(B), 3, None, id="nothing known"),
    ],
)
def test_deliveries_between_two_samples_are_counted(
    earlier: GroupSample, later: GroupSample, added: int | None, delivered: int | None
) -> None:
    assert deliveries(earlier, later, added) == delivered


@pytest.mark.parametrize(
    ("then", "now", "delivered", "rewound_from", "acked"),
    [
        pytest.param(3, 5, 7, None, 5, id="delivered and not pending"),
        pytest.param(3, 1, 0, None, 2, id="pending fell"),
        pytest.param(3, 5, 0, None, None, id="acknowledged ones were revived"),
        pytest.param(3, 5, None, None, None, id="deliveries unknown"),
        pytest.param(3, 5, 7, B, None, id="may be delivered again"),
        pytest.param(3, 1, 0, B, 2, id="rewound, nothing delivered"),
        pytest.param(3, 5, 7, A, 5, id="caught up with where it was"),
    ],
)
def test_acknowledgements_between_two_samples_are_counted(
    then: int, now: int, delivered: int | None, rewound_from: EntryId | None, acked: int | None
) -> None:
    earlier, later = of_group(A, pending=then), of_group(C, pending=now)
    assert acknowledgements(earlier, later, delivered, rewound_from) == acked


def test_an_arrival_rate_is_what_was_added_by_the_time_between() -> None:
    samples = (of_stream(added=5), of_stream(added=7), of_stream(added=9))
    times = (NOW, NOW + seconds(5), NOW + seconds(8))
    assert arrival_rate(SampleSeries(times, samples)) == 0.5
    assert arrival_rate(SampleSeries(times[:1], samples[:1])) is None


@table(
    ("values", "per_second"),
    [
        ([5], None),
        ([None], None),
        ([None, None], None),
        ([5, 5, 5], 0.0),
        ([None, 5], None),
        ([0, 2], 1.0),
        ([0, None, 6], 1.5),
        ([6, 4, 2, 0], -1.0),
        ([0, 0, 0, 8], 1.2),
    ],
)
def test_a_slope_is_the_change_a_second_over_known_values(
    values: list[int | None], per_second: float | None
) -> None:
    times = tuple(NOW + seconds(2 * place) for place in range(len(values)))
    assert slope(times, values) == (None if per_second is None else pytest.approx(per_second))


@given(st.lists(st.tuples(st.integers(1, 600), st.none() | st.integers(0, 10**6)), min_size=2, max_size=20))
def test_slope_is_the_least_squares_line(points: list[tuple[int, int | None]]) -> None:
    offsets = [sum(step for step, _ in points[: place + 1]) for place in range(len(points))]
    values = [value for _, value in points]
    known = [(offset, value) for offset, value in zip(offsets, values, strict=True) if value is not None]
    expected = linear_regression(*zip(*known, strict=True)).slope if len(known) > 1 else None
    found = slope(tuple(NOW + seconds(offset) for offset in offsets), values)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))
