from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.charts.scale import instants
from tests.support.invented import NOW
from tests.support.tables import table

END = NOW.timestamp()


@table(
    ("seconds", "width", "labels"),
    [
        (300, 32, ["11:56", "11:58"]),
        (300, 60, ["11:55", "11:56", "11:57", "11:58", "11:59"]),
        (300, 120, ["11:55:00", "11:55:30", "11:56:00", "11:56:30", "11:57:00"]),
        (1800, 32, ["11:30", "11:40", "11:50"]),
        (10800, 32, ["09:00", "10:00", "11:00"]),
        (86400, 32, ["12:00", "18:00", "00:00", "06:00"]),
        (86400 * 30, 40, ["19 Feb", "26 Feb", "5 Mar"]),
        (300, 7, []),
        (0, 40, []),
        (300, 0, []),
    ],
)
def test_labels_are_true_times_in_utc(seconds: float, width: int, labels: list[str]) -> None:
    assert [label for _, label in instants(END - seconds, END, width)][: len(labels) or None] == labels


@given(st.floats(10, 86400 * 60), st.integers(0, 300), st.floats(0, 1e9))
def test_labels_never_touch_and_never_leave_the_axis(seconds: float, width: int, shift: float) -> None:
    at = -2
    for column, label in instants(END + shift - seconds, END + shift, width):
        assert column > at + 1
        at = column + len(label)
        assert at <= width
