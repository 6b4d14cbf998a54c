"""The circuit breaker, on a clock of the test's own."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from streamops.webhooks.breaker import Breaker, BreakerOptions, BreakerState

OPTIONS = BreakerOptions(failures=3, pause=timedelta(seconds=10))


def opened(at: float = 0.0) -> Breaker:
    breaker = Breaker(OPTIONS)
    assert [breaker.failed(at, 0.0) for _ in range(3)] == [False, False, True]
    return breaker


def test_it_opens_after_failures_in_a_row() -> None:
    breaker = Breaker(OPTIONS)
    for _ in range(10):
        breaker.failed(0, 0)
        breaker.failed(0, 0)
        breaker.succeeded()
    assert breaker.admit(0) == 0
    assert opened().state(0) is BreakerState.OPEN


def test_one_call_decides_once_the_pause_is_over() -> None:
    breaker = opened()
    assert breaker.admit(4) == 6
    assert breaker.state(10) is BreakerState.HALF_OPEN
    assert breaker.admit(10) == 0
    assert breaker.admit(10) > 0
    breaker.succeeded()
    assert (breaker.state(10), breaker.admit(10)) == (BreakerState.CLOSED, 0)


def test_a_trial_that_fails_makes_the_next_pause_longer() -> None:
    breaker, now = opened(), 0.0
    pauses = []
    for _ in range(6):
        now += breaker.admit(now)
        assert breaker.admit(now) == 0
        assert breaker.failed(now, 0.0)
        pauses.append(breaker.admit(now))
    assert pauses == [20, 40, 80, 120, 120, 120]


def test_chance_spreads_the_trials() -> None:
    breaker = Breaker(OPTIONS)
    for _ in range(3):
        breaker.failed(0, 0.5)
    assert breaker.admit(0) == 12.5


def test_a_trial_that_was_cancelled_leaves_room_for_another() -> None:
    breaker = opened()
    assert breaker.admit(10) == 0
    breaker.gave_up()
    assert breaker.admit(10) == 0


def test_calls_that_were_under_way_change_nothing() -> None:
    breaker = opened()
    assert not breaker.failed(5, 0.0)
    assert breaker.admit(5) == 5


@given(st.lists(st.tuples(st.sampled_from("sfga"), st.floats(0, 30), st.floats(0, 0.999)), max_size=60))
def test_whatever_happens_somebody_is_let_through_again(steps: list[tuple[str, float, float]]) -> None:
    breaker, now = Breaker(OPTIONS), 0.0
    for what, passed, chance in steps:
        now += passed
        match what:
            case "s":
                breaker.succeeded()
            case "f":
                breaker.failed(now, chance)
            case "g":
                breaker.gave_up()
            case _:
                breaker.admit(now)
    breaker.gave_up()
    assert breaker.admit(now + 181) == 0
