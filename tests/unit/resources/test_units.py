"""Numbers as people read them."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from streamops.model.lag import Lag, LagBasis
from streamops.resources.table import Cell, Tone
from streamops.resources.units import (
    ABSENT,
    UNKNOWN,
    brief,
    compact,
    count,
    duration,
    lag_text,
    percent,
    rate,
    rfc3339,
    size,
    terse,
    timestamp,
)
from tests.support.tables import table


@table(
    ("number", "full", "short"),
    [
        (None, "?", "?"),
        (0, "0", "0"),
        (999, "999", "999"),
        (9_999, "9,999", "9,999"),
        (10_000, "10,000", "10.0k"),
        (12_345, "12,345", "12.3k"),
        (99_999, "99,999", "99.9k"),
        (100_000, "100,000", "100k"),
        (999_999, "999,999", "999k"),
        (4_560_000, "4,560,000", "4.5M"),
        (2**40, "1,099,511,627,776", "1.0T"),
        (-12_345, "-12,345", "-12.3k"),
    ],
)
def test_a_count_is_written_in_full_and_short(number: int | None, full: str, short: str) -> None:
    assert count(number) == full
    assert compact(number) == short


@given(st.integers(0, 10**15 - 1))
def test_compact_counts_fit_five_cells_and_never_overstate(number: int) -> None:
    text = compact(number)
    assert len(text) <= 5
    factor = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}.get(text[-1], 1)
    assert float(text.rstrip("kMGT").replace(",", "")) * factor <= number * (1 + 1e-12)


@table(
    ("seconds", "text"),
    [
        (None, "?"),
        (0, "0s"),
        (0.0004, "<1ms"),
        (0.85, "850ms"),
        (0.9999, "999ms"),
        (1, "1.0s"),
        (4.27, "4.2s"),
        (9.99, "9.9s"),
        (10, "10s"),
        (59.9, "59s"),
        (60, "1m00s"),
        (250, "4m10s"),
        (3_599, "59m59s"),
        (10_920, "3h02m"),
        (86_399, "23h59m"),
        (187_200, "2d4h"),
        (100 * 86_400, "100d"),
        (-250, "-4m10s"),
    ],
)
def test_duration_is_shown_in_its_largest_units(seconds: float | None, text: str) -> None:
    assert duration(None if seconds is None else timedelta(seconds=seconds)) == text


@given(st.timedeltas(timedelta(0), timedelta(days=99_999)))
def test_durations_fit_six_cells(span: timedelta) -> None:
    assert len(duration(span)) <= 6


@table(
    ("seconds", "text"),
    [
        (0, "0s"),
        (10, "10s"),
        (60, "1m"),
        (90, "90s"),
        (3_600, "1h"),
        (86_400, "1d"),
        (0.25, "250ms"),
        (10.5, "10s"),
    ],
)
def test_round_durations_lose_their_zeros(seconds: float, text: str) -> None:
    assert terse(timedelta(seconds=seconds)) == text


@table(
    ("per_second", "text"),
    [
        (None, ABSENT),
        (0.0, "0/s"),
        (0.001, "<0.01/s"),
        (0.524, "0.52/s"),
        (12.34, "12.3/s"),
        (1_234.9, "1,234/s"),
        (12_345.0, "12.3k/s"),
        (-3.0, "-3.00/s"),
    ],
)
def test_a_rate_is_written_a_second(per_second: float | None, text: str) -> None:
    assert rate(per_second) == text


@table(
    ("number", "text"),
    [
        (None, "?"),
        (0, "0 B"),
        (1_023, "1023 B"),
        (1_536, "1.5 KiB"),
        (65_536, "64.0 KiB"),
        (5 * 2**20, "5.0 MiB"),
    ],
)
def test_a_size_is_written_in_binary_units(number: int | None, text: str) -> None:
    assert size(number) == text


@table(
    ("share", "text"),
    [(None, "?"), (0.0, "0 %"), (0.0001, "<1 %"), (0.37, "37 %"), (0.9999, "99 %"), (1.0, "100 %")],
)
def test_a_share_is_written_as_whole_percent(share: float | None, text: str) -> None:
    assert percent(share) == text


def test_instants_are_in_utc() -> None:
    moment = datetime(2026, 3, 1, 15, 5, 9, 250_999, tzinfo=timezone(timedelta(hours=1)))
    assert timestamp(moment) == "2026-03-01 14:05:09Z"
    assert timestamp(None) == UNKNOWN
    assert rfc3339(moment) == "2026-03-01T14:05:09.250Z"
    assert rfc3339(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01T00:00:00.000Z"


@table(
    ("lag", "cell"),
    [
        (Lag(1_204, 1_204, 1_204, LagBasis.EXACT, ""), Cell("1,204", Tone.PLAIN)),
        (Lag(1_204, 1_204, 1_204, LagBasis.REPORTED, ""), Cell("1,204", Tone.PLAIN)),
        (Lag(0, 0, 0, LagBasis.EXACT, ""), Cell("0", Tone.DIM)),
        (Lag(None, 1, 5_000, LagBasis.UPPER, ""), Cell("≤5,000", Tone.UNKNOWN)),
        (Lag(None, 10_000, 90_000, LagBasis.LOWER, ""), Cell("≥10,000", Tone.UNKNOWN)),
        (Lag(5_000, 1, 9_000, LagBasis.ESTIMATED, ""), Cell("~5,000", Tone.UNKNOWN)),
        (Lag(None, 1, 9_000, LagBasis.UNKNOWN, ""), Cell("?", Tone.UNKNOWN)),
        (Lag(None, None, None, LagBasis.UPPER, ""), Cell("?", Tone.UNKNOWN)),
    ],
)
def test_a_lag_shows_what_it_rests_on(lag: Lag, cell: Cell) -> None:
    assert lag_text(lag) == cell


@table(
    ("span", "text"),
    [
        (None, "?"),
        (timedelta(milliseconds=900), "0s"),
        (timedelta(seconds=59), "59s"),
        (timedelta(seconds=60), "1m"),
        (timedelta(hours=1, minutes=59), "1h"),
        (timedelta(hours=47), "47h"),
        (timedelta(hours=48), "2d"),
        (timedelta(days=1234), "1234d"),
    ],
)
def test_a_brief_span_has_one_unit(span: timedelta | None, text: str) -> None:
    assert brief(span) == text
