"""The rules that leave everything as it is."""

import pytest
from msgspec.structs import replace

from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import ScaleCode
from tests.support.autoscaling.policy.pools import CONFIG, STEP, UNKNOWN, Pool, demand
from tests.support.invented import exact


def test_the_first_reading_only_warms_up() -> None:
    decision = Pool().tell(demand(lag=exact(1_000_000)))
    assert (decision.target, decision.code) == (2, ScaleCode.WARMUP)


def test_without_a_rate_nothing_is_sized() -> None:
    pool = Pool()
    pool.tell(demand(busy=None))
    decision = pool.after(1_000, 1_000, busy=None)
    assert (decision.target, decision.code) == (2, ScaleCode.NO_RATE)


def test_a_standing_queue_shows_the_rate_where_workers_do_not_tell_it() -> None:
    pool = Pool()
    pool.tell(demand(busy=None, lag=exact(50_000)))
    for _ in range(3):
        pool.after(2_000, 2_000, busy=None, lag=exact(50_000))
    assert pool.state.rate == 200


def test_steady_says_what_comes_in_and_what_the_workers_handle() -> None:
    decision = Pool().settle(250).decisions[-1]
    assert (decision.target, decision.code) == (2, ScaleCode.STEADY)
    assert decision.text == "250/s added, 2 workers handle 400/s, 0 unread"


def test_suspect_becomes_stuck_and_orders_nothing() -> None:
    pool = Pool().settle(200)
    decisions = [pool.after(1_000, 0, lag=exact(1_000 * turn), pending=64) for turn in range(1, 16)]
    assert {decision.target for decision in decisions} == {2}
    codes = [decision.code for decision in decisions]
    assert codes == [ScaleCode.SUSPECT] * 8 + [ScaleCode.STUCK] * 7
    assert decisions[-1].text == (
        "2 workers alive, nothing acknowledged for 75 s, 64 pending:"
        " dead handler or poison entry; more workers will not help"
    )


def test_workers_that_never_beat_are_not_called_alive() -> None:
    pool = Pool().settle(200)
    texts = [pool.after(1_000, 0, lag=exact(1_000 * turn), ready_known=False).text for turn in range(15)]
    assert "2 workers, number alive unknown, nothing acknowledged" in texts[-1]
    assert "no worker, dead handler or poison entry" in texts[-1]


def test_one_acknowledgement_ends_the_hold() -> None:
    pool = Pool().settle(200)
    for turn in range(12):
        pool.after(1_000, 0, lag=exact(1_000 * turn), pending=64)
    decision = pool.after(1_000, 2_000, lag=exact(20_000), pending=64, busy=1.0)
    assert decision.code is ScaleCode.BACKLOG


def test_standing_still_does_not_change_the_rate() -> None:
    pool = Pool().settle(200)
    before = pool.state.rate
    for _ in range(12):
        pool.after(1_000, 0, lag=exact(9_000), pending=64, busy=1.0)
    assert pool.state.rate == before


def test_ordered_workers_that_never_start_hold_the_pool() -> None:
    pool = Pool().settle(200)
    decisions = [pool.after(1_000, 0, ready=0, ordered=4, lag=exact(5_000)) for _ in range(15)]
    assert decisions[-1].code is ScaleCode.NOT_STARTING
    assert decisions[-1].target == 4
    assert "none alive after 70 s (startup time 20 s)" in decisions[-1].text


def test_an_unknown_lag_holds_and_tells_why() -> None:
    decision = Pool().settle(200).after(1_000, 1_000, lag=UNKNOWN, head_age=None)
    assert (decision.target, decision.code) == (2, ScaleCode.LAG_UNKNOWN)
    assert "entries were deleted" in decision.text


def test_arrivals_alone_call_for_workers_while_the_lag_is_unknown() -> None:
    pool = Pool().settle(200)
    decisions = [pool.after(4_000, 2_000, lag=UNKNOWN, head_age=None, busy=1.0) for _ in range(8)]
    assert decisions[-1].code is ScaleCode.ARRIVALS
    assert decisions[-1].target > 2


def test_an_unknown_lag_holds_a_pool_that_may_not_go_by_arrivals() -> None:
    pool = Pool(replace(CONFIG, by_arrivals=False)).settle(200)
    decisions = [pool.after(4_000, 2_000, lag=UNKNOWN, head_age=None, busy=1.0) for _ in range(20)]
    assert {decision.code for decision in decisions} == {ScaleCode.LAG_UNKNOWN}


def test_a_lower_bound_is_enough_to_order_by() -> None:
    least = Lag(None, 40_000, None, LagBasis.LOWER, "at least 40,000")
    decision = Pool().settle(200).after(1_000, 1_000, lag=least, head_age=20.0)
    assert (decision.code, decision.target) == (ScaleCode.BACKLOG, 7)


@pytest.mark.parametrize(
    "lag", [UNKNOWN, Lag(None, 0, 400, LagBasis.UPPER, ""), Lag(7, None, None, LagBasis.ESTIMATED, "")]
)
def test_no_lag_that_is_not_known_lets_anybody_go(lag: Lag) -> None:
    known, unknown = (Pool(workers=8).settle(100, times=11) for _ in range(2))
    assert known.after(500, 500).target < 8
    assert unknown.after(500, 500, lag=lag, head_age=None).target == 8


def test_a_phantom_is_nothing_and_says_so() -> None:
    decision = Pool().settle(250).after(1_250, 1_250, lag=exact(900_000), probed_empty=True, busy=0.6)
    assert (decision.code, decision.target) == (ScaleCode.STEADY, 2)
    assert decision.text.endswith("(the server reports a lag of 900,000, but no entry is unread)")


def test_a_stream_created_anew_begins_anew() -> None:
    pool = Pool().settle(200)
    decision = pool.tell(replace(pool.reading, at=pool.reading.at + STEP, added=3))
    assert decision.code is ScaleCode.WARMUP
    assert len(pool.state.samples) == 1


def test_a_reading_that_is_not_newer_changes_nothing() -> None:
    pool = Pool().settle(200)
    state, decision = decide(CONFIG, pool.state, replace(pool.reading, lag=exact(10**6)))
    assert state is pool.state
    assert decision is pool.decisions[-1]


def test_limits_win_over_everything() -> None:
    decision = decide(CONFIG, ScalingState(), demand(ordered=50, ready=50, lag=UNKNOWN))[1]
    assert (decision.target, decision.code) == (20, ScaleCode.LIMIT)
    assert "limited to 20 (1 to 20)" in decision.text


def test_a_worker_that_starts_is_waited_for_and_one_long_overdue_is_not() -> None:
    pool = Pool().settle(250)
    decisions = [pool.after(1_250, 1_250, ordered=3, busy=0.6) for _ in range(20)]
    codes = [decision.code for decision in decisions]
    assert codes[:12] == [ScaleCode.STARTING] * 12
    assert ScaleCode.STARTING not in codes[14:]
