from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import SettingsError
from streamops.model.measures import LONGEST, parse_duration, typed_duration
from tests.support.tables import table


@table(
    ("written", "span"),
    [
        ("30s", timedelta(seconds=30)),
        ("5m", timedelta(minutes=5)),
        ("1h30m", timedelta(hours=1, minutes=30)),
        ("250ms", timedelta(milliseconds=250)),
        ("1w2d3h4m5s6ms", timedelta(weeks=1, days=2, hours=3, minutes=4, seconds=5, milliseconds=6)),
        ("1.5h", timedelta(minutes=90)),
        ("30m1h", timedelta(minutes=90)),
        ("1,000s", timedelta(seconds=1000)),
        ("90m", timedelta(minutes=90)),
        ("0s", timedelta(0)),
        (" 10 ", timedelta(seconds=10)),
        ("2.5", timedelta(seconds=2.5)),
        (0, timedelta(0)),
        (10, timedelta(seconds=10)),
        (0.25, timedelta(milliseconds=250)),
    ],
)
def test_a_duration_is_read(written: str | float, span: timedelta) -> None:
    assert parse_duration(written) == span


@table(
    "written",
    [
        "",
        " ",
        "s",
        "5x",
        "-5s",
        "+5s",
        "1e3",
        "inf",
        "٣s",
        "PT5M",
        "1:30",
        -1,
        float("nan"),
    ],
)
def test_what_is_not_a_duration_is_refused(written: str | float) -> None:
    with pytest.raises(SettingsError, match="not a duration") as caught:
        parse_duration(written)
    assert "1h30m" in caught.value.hint


@table("written", ["3651d", "999999999999w", 10**12, 1e300, float("inf")])
def test_a_duration_has_an_end(written: str | float) -> None:
    with pytest.raises(SettingsError):
        parse_duration(written)


@given(st.timedeltas(timedelta(0), LONGEST))
def test_what_is_rendered_is_read_back(span: timedelta) -> None:
    assert parse_duration(typed_duration(span)) == span


@given(st.text())
def test_no_text_raises_anything_else(written: str) -> None:
    try:
        span = parse_duration(written)
    except SettingsError:
        return
    assert timedelta(0) <= span <= LONGEST
