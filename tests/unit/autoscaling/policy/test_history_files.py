"""Files of arrivals, as people and Prometheus have them."""

from datetime import UTC, datetime

import pytest

from streamops.autoscaling.history import read_history
from streamops.errors import SettingsError
from tests.support.tables import table

CSV = """time,arrivals
2026-03-01T14:00:00Z,5
2026-03-01T14:00:10Z,100

2026-03-01T14:00:30+00:00,400
"""


def test_a_csv_history_is_read_into_even_steps() -> None:
    history = read_history(CSV.splitlines(), "file")
    assert history.begins_at == datetime(2026, 3, 1, 14, tzinfo=UTC)
    assert history.counts == (*[10] * 10, *[20] * 20)
    assert (history.step, history.entries, history.peak) == (20, 500, 20)


@table(
    "text",
    [
        "time,per_second\n0,7\n10,10\n30,20\n",
        "added,time\n1000,0\n1100,10\n1500,30\n",
        '{"time": 0, "added": 1000}\n{"time": 10, "added": 1100}\n{"time": 30, "added": 1500}',
        '{"time": "1970-01-01", "arrivals": 1}\n{"time": 10, "arrivals": 100}\n{"time": 30, "arrivals": "400"}',
    ],
)
def test_histories_in_other_forms_are_read_alike(text: str) -> None:
    assert read_history(text.splitlines(), "file").counts == (*[10] * 10, *[20] * 20)


def test_a_counter_that_begins_anew() -> None:
    lines = ["time,added", "0,900", "10,1000", "20,50"]
    assert read_history(lines, "file").counts == (*[10] * 10, *[5] * 10)


@table(
    ("text", "why"),
    [
        ("", "fewer than two lines"),
        ("time,arrivals\n0,1\n", "fewer than two lines"),
        ("when,arrivals\n0,1\n", "line 2: no column `time`"),
        ("time,arrivals,added\n0,1,1\n", "line 2: no column `time`, or none or several"),
        ("time,arrivals\n0,1\n5,many\n", "line 3: arrivals is no number from 0 on: many"),
        ("time,arrivals\n0,1\n5,-2\n", "line 3: arrivals is no number from 0 on"),
        ("time,arrivals\n0,1\n5,\n", "line 3: arrivals is empty"),
        ("time,arrivals\n0,1\n5,inf\n", "line 3: arrivals is no number from 0 on"),
        ("time,arrivals\n5,1\n5,2\n", "line 3: not later than the line before"),
        ("time,arrivals\nsoon,1\n", "line 2: time is neither RFC 3339 nor seconds"),
        ("time,arrivals\n0,0\n60,0\n", "nothing arrived in it"),
        ("time,arrivals\n0,0\n9999999,1\n", "longer than 14 days"),
        ('{"time": 0, "arrivals": 1}\n{"time": ', "line 2: "),
        ('{"time": 0, "arrivals": [1]}\n', "line 1: "),
        ("time,arrivals\nnan,1\n5,1\n6,1", "line 2: time is neither"),
        ("time,arrivals\n1772373600000,1\n", "line 2: time is neither"),
        ('time,arrivals\n"0,1\n', "line 2: "),
    ],
)
def test_text_that_is_no_history_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read_history(text.splitlines(), "file")
    assert caught.value.message.startswith("file: ")
    assert why in caught.value.message
    assert caught.value.exit_code == 2
