"""The rules that order workers and let them go."""

import pytest
from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.model.pools import ScaleCode
from tests.support.autoscaling.policy.pools import CONFIG, TO_ZERO, UNKNOWN, Pool, demand, span, targets
from tests.support.invented import exact
from tests.support.tables import table


def test_a_backlog_orders_at_once() -> None:
    decision = Pool().settle(200).after(30_000, 2_000, lag=exact(29_000), head_age=5.0, busy=1.0)
    assert decision.code is ScaleCode.BACKLOG
    assert decision.target == 8
    assert "29,000 unread" in decision.text
    assert decision.text.endswith("(limit 30 s): 2 to 8")


def test_what_is_ordered_counts() -> None:
    """The same backlog orders nobody twice."""
    pool = Pool().settle(200)
    pool.after(8_000, 2_000, lag=exact(7_000), head_age=5.0, busy=1.0)
    again = pool.after(1_000, 2_000, lag=exact(6_000), ordered=pool.decisions[-1].target, busy=1.0)
    assert again.target == pool.reading.ordered
    assert again.code is ScaleCode.STARTING


@table(("workers", "most"), [(1, 5), (2, 8), (4, 16), (8, 20)])
def test_a_step_is_at_most_times_four_or_four_more(workers: int, most: int) -> None:
    pool = Pool(workers=workers).settle(100)
    decision = pool.after(10**6, 100, lag=exact(10**6), head_age=5.0, busy=1.0)
    assert decision.target == most


def test_arrivals_above_capacity_order_before_there_is_a_backlog() -> None:
    pool = Pool().settle(300)
    decisions = [pool.after(2_000, 2_000, busy=1.0) for _ in range(12)]
    assert ScaleCode.ARRIVALS in {decision.code for decision in decisions}
    assert max(targets(decisions)) == 3


def test_a_burst_that_is_over_orders_nobody_for_entries_that_come_no_more() -> None:
    pool = Pool(workers=6)
    pool.tell(pool.reading)
    for _ in range(12):
        pool.after(busy=0.0)
    pool.after(30_000, 5_000, busy=1.0, lag=exact(25_000), pending=96, head_age=5.0)
    left = 25_000
    while left > 0:
        left -= 6_000
        pool.after(0, 6_000, busy=1.0, lag=exact(max(0, left)), pending=96, head_age=10.0)
    told = [pool.after(busy=0.0, lag=exact(0), pending=0, head_age=0.0).code for _ in range(30)]
    assert ScaleCode.ARRIVALS not in told
    assert ScaleCode.IDLE in told


def saw(pool: Pool, turns: int) -> None:
    """Peaks that three workers work off in 17 seconds, a minute apart; nothing that is decided is done."""
    for _ in range(turns):
        for place, waits in enumerate((10_000, 7_500, 5_000, 2_500, 0)):
            pool.after(500 if place else 13_000, 3_000, lag=exact(waits), head_age=3.0 * place, busy=1.0)
        for _ in range(7):
            pool.after(500, 500, busy=1 / 6, head_age=0.0)


def test_peaks_that_were_worked_off_before_are_left_alone() -> None:
    pool = Pool(workers=3)
    pool.settle(100)
    saw(pool, 1)
    assert ScaleCode.BACKLOG in {decision.code for decision in pool.decisions}
    saw(pool, 2)
    seen = len(pool.decisions)
    saw(pool, 3)
    later = [decision for decision in pool.decisions[seen:] if decision.target > 3]
    assert later == []
    vetoed = [decision for decision in pool.decisions[seen:] if "peaks like this" in decision.text]
    assert all(decision.code is ScaleCode.SAWTOOTH for decision in vetoed)
    assert vetoed


def test_a_replay_lets_workers_go_by_halves() -> None:
    pool = Pool(workers=8)
    pool.settle(100, times=20)
    first = next(decision for decision in pool.decisions if decision.target < 8)
    assert (first.code, first.target) == (ScaleCode.IDLE, 4)
    assert "simulated with 4 workers" in first.text
    assert "(limit 24 s)" in first.text


def test_nothing_is_let_go_that_the_past_would_have_needed() -> None:
    """A burst of a minute ago is remembered."""
    pool = Pool(workers=8)
    pool.settle(100, times=20)
    pool.after(30_000, 8_000, lag=exact(22_000), head_age=4.0, busy=1.0)
    pool.after(500, 22_500, lag=exact(0), busy=1.0)
    after = [pool.after(500, 500, busy=0.06) for _ in range(10)]
    assert min(targets(after)) >= 6


@pytest.mark.parametrize("backlog", [1_000, 5_000])
def test_nothing_is_let_go_while_anything_waits(backlog: int) -> None:
    pool = Pool(workers=8)
    pool.settle(100, times=20)
    assert pool.after(500, 500, lag=exact(backlog), busy=1.0).code is ScaleCode.DRAINING


def saturate(pool: Pool) -> None:
    """Whatever is ordered comes, and 400 entries a second are handled all the same."""
    for turn in range(30):
        pool.after(5_000, 2_000, lag=exact(20_000 + 3_000 * turn), head_age=20.0, busy=1.0)
        pool.follow()
        if pool.state.cap:
            return


def test_a_saturated_pool_goes_back_to_the_knee_and_says_so() -> None:
    pool = Pool().settle(300)
    saturate(pool)
    decision = pool.decisions[-1]
    assert (decision.code, decision.target) == (ScaleCode.SATURATED, 3)
    assert "3 workers reach 400/s" in decision.text
    assert "the bottleneck is downstream" in decision.text


@pytest.mark.parametrize(("swing", "capped"), [(0, True), (900, False)])
def test_what_may_be_chance_is_no_cap(swing: int, *, capped: bool) -> None:
    """A tenth of what was added, every time, is a limit; the same on average, now more and now less, may be none."""
    pool = Pool(workers=1).settle(190)
    target = pool.after(3_000, 1_000, lag=exact(9_000), head_age=5.0, busy=1.0).target
    pool.follow()
    pool.after(1_000, 1_000, lag=exact(9_000), head_age=9.0, busy=1.0)
    average = 1_000 + 100 * (target - 1)
    for sign in (1, -1, 0, 1, -1):
        pool.after(1_000, average + sign * swing, lag=exact(9_000), head_age=9.0, busy=1.0)
    assert (pool.state.cap is not None) is capped


def test_it_tries_again_after_a_while_by_a_quarter_and_waits_twice_as_long_after_that() -> None:
    pool = Pool().settle(300)
    saturate(pool)
    tries = []
    for turn in range(200):
        before = pool.reading.ordered
        decision = pool.after(5_000, 2_000, lag=exact(90_000 + turn), head_age=99.0, busy=1.0)
        pool.follow()
        if decision.target > before:
            tries.append((pool.reading.at, decision.target))
    assert [target for _, target in tries] == [4, 4]
    assert 590 < tries[1][0] - tries[0][0] < 640


def test_below_its_cap_a_pool_grows_like_any_other_and_the_cap_stays() -> None:
    pool = Pool().settle(300)
    saturate(pool)
    cap = pool.state.cap
    assert cap is not None
    pool.reading = replace(pool.reading, ordered=1, ready=1)
    for turn in range(12):
        handled = min(2_000, 1_000 * pool.reading.ready)
        pool.after(5_000, handled, lag=exact(90_000 + turn), head_age=99.0, busy=1.0)
        pool.follow()
        assert pool.reading.ordered <= cap.workers
    assert pool.reading.ordered == cap.workers
    assert pool.state.cap is not None


def test_a_good_try_forgets_the_cap() -> None:
    pool = Pool().settle(300)
    saturate(pool)
    for turn in range(80):
        handled = 1_000 * pool.reading.ready
        pool.after(5_000, handled, lag=exact(90_000 + turn), head_age=99.0, busy=1.0)
        pool.follow()
    assert pool.state.cap is None
    assert pool.reading.ordered > 4


def test_a_pool_may_go_to_zero_and_wakes_with_the_first_entry() -> None:
    pool = Pool(TO_ZERO, workers=1)
    pool.settle(100)
    quiet = [pool.after(0, 0, pending=0, busy=0.0) for _ in range(60)]
    assert quiet[-1].target == 0
    assert quiet[-1].text == "nothing unread, pending or added for 300 s: 1 to 0"
    pool.reading = replace(pool.reading, ordered=0, ready=0)
    assert pool.after(0, 0).target == 0
    woken = pool.after(1, 0, lag=exact(1))
    assert (woken.code, woken.target) == (ScaleCode.WAKE, 1)


@pytest.mark.parametrize("change", [{"pending": 1}, {"lag": exact(1)}, {"lag": UNKNOWN}])
def test_it_does_not_while_there_is_work_or_nobody_knows(change: dict[str, object]) -> None:
    pool = Pool(TO_ZERO, workers=1)
    pool.settle(100)
    pool.reading = replace(pool.reading, **{"pending": 0, "busy": 0.1, **change})
    decisions = [pool.after(0, 1) for _ in range(80)]
    assert set(targets(decisions)) == {1}


def test_a_pool_of_none_is_woken_where_the_lag_is_unknown() -> None:
    decision = Pool(TO_ZERO).tell(demand(ordered=0, ready=0, lag=UNKNOWN, pending=0))
    assert (decision.code, decision.target) == (ScaleCode.WAKE, 1)


@pytest.mark.parametrize(("config", "most"), [({"prefetch": 10_000}, 4), ({}, 6)])
def test_no_more_workers_than_can_have_work(config: dict[str, int], most: int) -> None:
    pool = Pool(replace(CONFIG, **config)).settle(100)
    decision = pool.after(500, 2_000, lag=exact(38_000), head_age=5.0, busy=1.0)
    assert decision.target == most
    assert ("would have work" in decision.text) is bool(config)


def test_how_long_workers_take_to_start_is_learned() -> None:
    pool = Pool().settle(250)
    pool.after(1_250, 1_250, ordered=3)
    for _ in range(11):
        pool.after(1_250, 1_250)
    pool.after(1_250, 1_250, ready=3)
    assert pool.state.start_up == 60


def test_contradictory_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="minimum must not be above maximum"):
        ScalingConfig(minimum=5, maximum=4)
    with pytest.raises(ValueError, match="longer than zero"):
        ScalingConfig(objective=span(0))
