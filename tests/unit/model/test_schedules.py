"""Schedules as text."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.schedules import LONGEST, MINUTES_2N_1, parse_schedule
from tests.support.tables import table


def delays(text: str, most: int = 4, chance: float = 1.0) -> list[float]:
    schedule = parse_schedule(text)
    return [schedule(failures, chance).total_seconds() for failures in range(1, most + 1)]


@table(
    ("text", "seconds", "canonical"),
    [
        ("2n+1 m", [60, 180, 300, 420], "2n+1 m"),
        (" 2n + 1  minutes", [60, 180, 300, 420], "2n+1 m"),
        ("0n+5s", [5, 5, 5, 5], "0n+5 s"),
        ("0.5n+1 h", [3600, 5400, 7200, 9000], "30n+60 m"),
        ("1m, 5m,1h30m", [60, 300, 5400, 5400], "1m, 5m, 1h30m"),
        ("250ms", [0.25] * 4, "250ms"),
        ("0s", [0] * 4, "0s"),
        ("exponential 10s 1m", [10, 20, 40, 60], "exponential 10s 1m"),
        ("exponential 10s 1m jitter", [10, 20, 40, 60], "exponential 10s 1m jitter"),
    ],
)
def test_a_written_schedule_gives_its_delays_and_its_canonical_text(
    text: str, seconds: list[float], canonical: str
) -> None:
    assert delays(text) == seconds
    assert parse_schedule(text).text == canonical
    assert delays(canonical) == seconds


def test_c4_the_default_is_2n_plus_1_minutes() -> None:
    assert parse_schedule("2n+1 m") == MINUTES_2N_1


def test_jitter_is_anything_up_to_the_delay() -> None:
    assert delays("exponential 10s 1m jitter", chance=0.0) == [0] * 4
    assert delays("exponential 10s 1m jitter", chance=0.5) == [5, 10, 20, 30]
    assert delays("exponential 10s 1m", chance=0.0) == [10, 20, 40, 60]


@table(
    "text",
    ["", "never", "5", "1m,", ",", "-1s", "n+1 m", "2n+1", "2n-1 m", "exponential", "exponential 1s",
     "exponential 1m 1s", "exponential 1s 1m 1h", "400d", "1e9s", ", ".join(["1s"] * 101), "999999999n+1 d", "\uff11s"],
)  # fmt: skip
def test_text_that_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"delay|exponential"):
        parse_schedule(text)


@given(st.text(max_size=30))
def test_any_text_is_a_schedule_or_told_not_to_be(text: str) -> None:
    try:
        schedule = parse_schedule(text)
    except ValueError:
        return
    assert parse_schedule(schedule.text) == schedule


@given(
    st.sampled_from(["2n+1 m", "1m, 1h", "exponential 1ms 365d", "exponential 1s 365d jitter", "365n+365 d"]),
    st.integers(1, 1_000_000),
    st.floats(0, 0.999),
)
def test_no_number_of_failures_is_too_much(text: str, failures: int, chance: float) -> None:
    assert timedelta() <= parse_schedule(text)(failures, chance) <= LONGEST
