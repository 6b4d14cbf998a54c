from hypothesis import given
from hypothesis import strategies as st

from streamops.tui.polling.app_state import CHOICES, RETRIES, PollPace, faster, pace, retry_delay, slower
from tests.support.invented import seconds


def test_polls_take_a_quarter_of_the_time_at_most() -> None:
    for chosen, cost, focused, interval, reason in [
        (2, 0.01, True, 2, ""),
        (2, 0.5, True, 2, ""),
        (2, 0.6, True, 2.4, "stretched: a poll takes 600ms"),
        (30, 5, True, 30, ""),
        (2, 0.01, False, 10, "out of focus"),
        (2, 4, False, 16, "out of focus"),
        (30, 0.01, False, 30, ""),
        (30, 10, False, 40, "stretched: a poll takes 10s"),
    ]:
        assert pace(seconds(chosen), seconds(cost), focused=focused) == PollPace(
            seconds(chosen), seconds(interval), reason
        )


def test_pace_that_is_off_has_no_interval() -> None:
    for focused in [True, False]:
        assert pace(None, seconds(100), focused=focused) == PollPace(None, None)


@given(chosen=st.floats(0.001, 60), cost=st.floats(0, 60), focused=st.booleans())
def test_the_interval_never_shrinks_below_the_choice_nor_below_four_polls(
    *, chosen: float, cost: float, focused: bool
) -> None:
    interval = pace(seconds(chosen), seconds(cost), focused=focused).interval
    assert interval is not None
    assert interval >= max(seconds(chosen), 4 * seconds(cost))


def test_slower_and_faster_walk_the_choices_and_stop_at_the_ends() -> None:
    walked = [CHOICES[0]]
    while walked[-1] is not None:
        walked.append(slower(walked[-1]))
    assert tuple(walked) == CHOICES
    assert slower(None) is None
    back = [CHOICES[-1]]
    while back[-1] != CHOICES[0]:
        back.append(faster(back[-1]))
    assert tuple(back) == CHOICES[::-1]
    assert faster(CHOICES[0]) == CHOICES[0]


def test_an_odd_interval_from_the_configuration_joins_the_choices() -> None:
    for chosen, after_plus, after_minus in [(3, 5, 2), (60, None, 30), (0.5, 1, 1)]:
        assert slower(seconds(chosen)) == (None if after_plus is None else seconds(after_plus))
        assert faster(seconds(chosen)) == seconds(after_minus)


def test_retries_back_off_to_fifteen_seconds() -> None:
    delays = [retry_delay(failures).total_seconds() for failures in range(8)]
    assert delays == [1, 1, 2, 4, 8, 15, 15, 15]
    assert retry_delay(10**9).total_seconds() == RETRIES.longest
