"""What becomes of an entry after its handler ran, by tables."""

from datetime import timedelta
from typing import Any

import pytest

from streamops.runtime import Delays, Reject, RetryLater, Skip
from streamops.runtime.retry import (
    ACKNOWLEDGE,
    LONGEST_DELAY,
    EntryOutcome,
    HandlerTimeout,
    PayloadMissing,
    Retry,
    Undecodable,
    dead_letter,
    decide,
    retry_after,
    schedule_of,
    words,
)
from tests.support.tables import table

TWICE = Retry(Delays((5, 60)), max_attempts=3, no_retry_on=(LookupError,))
ONCE = Retry(None, max_attempts=3)
SECOND = timedelta(seconds=1)
LATER = RetryLater(1, "busy")
UNCOUNTED = RetryLater(1, "busy", counts=False)
BUSY, NO, NONE = ValueError("no"), Reject("no"), None


@table(
    ("retry", "attempt", "error", "outcome"),
    [
        (TWICE, 1, NONE, ACKNOWLEDGE),
        (TWICE, 9, Skip(), ACKNOWLEDGE),
        (TWICE, 1, BUSY, retry_after(SECOND * 5, "ValueError: no")),
        (TWICE, 2, BUSY, retry_after(SECOND * 60, "ValueError: no")),
        (TWICE, 3, BUSY, dead_letter("max-deliveries", "ValueError: no")),
        (TWICE, 4, BUSY, dead_letter("max-deliveries", "ValueError: no")),
        (TWICE, 1, NO, dead_letter("rejected", "no")),
        (TWICE, 1, KeyError("k"), dead_letter("rejected", "KeyError: 'k'")),
        (TWICE, 3, KeyError("k"), dead_letter("max-deliveries", "KeyError: 'k'")),
        (TWICE, 1, Undecodable("it is no Order"), dead_letter("undecodable", "it is no Order")),
        (TWICE, 1, PayloadMissing("gone"), dead_letter("payload-missing", "gone")),
        (TWICE, 1, HandlerTimeout("longer"), retry_after(SECOND * 5, "longer")),
        (TWICE, 3, HandlerTimeout("longer"), dead_letter("timeout", "longer")),
        (TWICE, 1, LATER, retry_after(SECOND, "busy")),
        (TWICE, 3, LATER, dead_letter("max-deliveries", "busy")),
        (TWICE, 3, UNCOUNTED, retry_after(SECOND, "busy", counts=False)),
        (ONCE, 1, BUSY, dead_letter("rejected", "ValueError: no")),
        (ONCE, 1, LATER, retry_after(SECOND, "busy")),
    ],
)
def test_failure_is_disposed_of_by_its_attempt_and_error(
    retry: Retry, attempt: int, error: Exception | None, outcome: EntryOutcome
) -> None:
    assert decide(retry, attempt, error, 0.5) == outcome


@table(("answer", "delay"), [(3, 3.0), (0.5, 0.5), (timedelta(minutes=1), 60.0), (-1, 0.0), (0, 0.0)])
def test_a_function_may_answer_in_seconds(answer: float | timedelta, delay: float) -> None:
    outcome = decide(Retry(lambda _, __: answer), 1, ValueError("no"), 0.5)
    assert outcome == retry_after(timedelta(seconds=delay), "ValueError: no")


@pytest.mark.parametrize("answer", [None, "soon", float("nan")])
def test_a_schedule_that_is_wrong_costs_the_usual_delay_and_no_worker(answer: object) -> None:
    wrong: Any = lambda _, __: answer  # noqa: E731 - what no type checker lets pass
    outcome = decide(Retry(wrong), 2, ValueError("no"), 0.5)
    assert outcome.delay == timedelta(seconds=2.5)
    assert outcome.error.startswith("ValueError: no; its schedule: SettingsError: the schedule's answer is ")


def test_a_schedule_that_raises_costs_the_usual_delay_and_no_worker() -> None:
    outcome = decide(Retry(lambda failures, _: SECOND / (failures - 1)), 1, ValueError("no"), 0.5)
    assert outcome.delay == timedelta(seconds=1.5)
    assert "ZeroDivisionError" in outcome.error


def test_schedules_from_what_users_give() -> None:
    assert schedule_of(None) is None
    assert schedule_of(5) == Delays((5,))
    assert schedule_of([1, SECOND]) == Delays((1, SECOND))
    assert schedule_of(TWICE.schedule) is TWICE.schedule


def test_errors_are_told_in_one_line_of_bounded_length() -> None:
    assert words(ValueError("a\n  b")) == "ValueError: a b"
    assert words(Reject("a\nb")) == "a b"
    assert words(ValueError()) == "ValueError"
    assert len(words(ValueError("x" * 5_000))) == 2_000


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_errors_that_cannot_be_told_are_told_by_their_kind() -> None:
    assert words(Unspeakable()) == "Unspeakable"
    assert words(ValueError("\ud800")) == "ValueError: \\ud800"
    assert words(ValueError("\udcff")) == "ValueError: \\xff"
    assert len(words(ValueError("\ud800" * 2_000))) == 2_000


@pytest.mark.parametrize("answer", [1e12, timedelta.max, 1e300])
def test_no_delay_is_longer_than_dates_go(answer: float | timedelta) -> None:
    outcome = decide(Retry(lambda _, __: answer), 1, ValueError("no"), 0.5)
    assert outcome == retry_after(LONGEST_DELAY, "ValueError: no")


@pytest.mark.parametrize("counts", [True, False])
def test_a_handler_may_ask_for_any_delay(*, counts: bool) -> None:
    for asked, given in ((timedelta.max, LONGEST_DELAY), (timedelta.min, timedelta(0)), (SECOND, SECOND)):
        outcome = decide(TWICE, 1, RetryLater(asked, "busy", counts=counts), 0.5)
        assert outcome == retry_after(given, "busy", counts=counts)
