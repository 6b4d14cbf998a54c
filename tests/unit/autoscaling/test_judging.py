"""From a reading to a decision, with what people told its controller above the policy."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.assignment import Assignment
from streamops.autoscaling.judging import Judged, in_force, judge, judge_blindly
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.readings import waiting
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.pools import FREE, Applied, PoolSize, Steering
from streamops.model.scaling import Demand, ScaleCode
from tests.support.autoscaling.policy.pools import UNKNOWN, demand
from tests.support.autoscaling.policy.properties import CONFIGS, histories
from tests.support.invented import NOW, exact

CONFIG = ScalingConfig(minimum=1, maximum=10)
ASSIGNMENT = Assignment(pool="billing", stream="orders", group="workers", config=CONFIG)
NEXT_HOUR, LAST_HOUR = NOW + timedelta(hours=1), NOW - timedelta(hours=1)

STEERINGS = st.builds(
    Steering,
    paused=st.booleans(),
    override=st.none() | st.integers(0, 60),
    until=st.sampled_from([None, NOW, NEXT_HOUR, LAST_HOUR]),
    minimum=st.none() | st.integers(0, 20),
    maximum=st.none() | st.integers(1, 20),
)


def judged(
    steering: Steering = FREE, reading: Demand | None = None, state: ScalingState | None = None
) -> Judged:
    return judge(ASSIGNMENT, state or ScalingState(), reading or demand(ordered=3, ready=3), steering, NOW)


@pytest.mark.parametrize(
    ("steering", "target", "code"),
    [
        pytest.param(FREE, 3, ScaleCode.WARMUP, id="nobody"),
        pytest.param(Steering(paused=True), 3, ScaleCode.PAUSED, id="paused"),
        pytest.param(Steering(override=7), 7, ScaleCode.OVERRIDE, id="override"),
        pytest.param(Steering(override=0), 0, ScaleCode.OVERRIDE, id="override to none"),
        pytest.param(Steering(override=7, paused=True), 7, ScaleCode.OVERRIDE, id="both: the number"),
        pytest.param(Steering(override=7, until=NEXT_HOUR), 7, ScaleCode.OVERRIDE, id="until later"),
        pytest.param(Steering(override=7, until=NOW), 3, ScaleCode.WARMUP, id="just over"),
        pytest.param(Steering(paused=True, until=LAST_HOUR), 3, ScaleCode.WARMUP, id="long over"),
        pytest.param(Steering(minimum=5), 5, ScaleCode.LIMIT, id="more at least"),
        pytest.param(Steering(maximum=2), 2, ScaleCode.LIMIT, id="fewer at most"),
        pytest.param(Steering(minimum=5, until=LAST_HOUR), 5, ScaleCode.LIMIT, id="limits do not end"),
        pytest.param(Steering(minimum=5, paused=True), 3, ScaleCode.PAUSED, id="a pause changes nothing"),
    ],
)
def test_people_come_before_the_policy(steering: Steering, target: int, code: ScaleCode) -> None:
    decision = judged(steering).decision
    assert (decision.target, decision.code) == (target, code)


@given(CONFIGS, histories(20), STEERINGS)
def test_whatever_is_told_the_limits_hold_and_no_lag_unknown_takes_a_worker(
    config: ScalingConfig, readings: list[Demand], steering: Steering
) -> None:
    state, assignment = ScalingState(), replace(ASSIGNMENT, config=config)
    force = in_force(config, steering)
    assert force.minimum <= force.maximum
    for reading in readings:
        one = judge(assignment, state, reading, steering, NOW)
        state, decision = one.state, one.decision
        if decision.code is ScaleCode.OVERRIDE:
            assert decision.target == steering.override
            inside = force.minimum <= decision.target <= force.maximum
            assert inside or "beyond the limits" in decision.text
        elif decision.code is ScaleCode.PAUSED:
            assert decision.target == reading.ordered
        else:
            assert force.minimum <= decision.target <= force.maximum
            if waiting(reading) is None:
                assert decision.target >= min(reading.ordered, force.maximum)
        assert one.told("me").outlook


@given(STEERINGS, st.integers(0, 30))
def test_blindly_only_people_and_the_least_there_may_be_count(steering: Steering, ordered: int) -> None:
    told = judge_blindly(ASSIGNMENT, PoolSize(ordered=ordered), steering, NOW, "no group")
    force = in_force(CONFIG, steering)
    holds = steering.until is None or steering.until > NOW
    if holds and steering.override is not None:
        assert (told.code, told.target) == (ScaleCode.OVERRIDE, steering.override)
    elif holds and steering.paused:
        assert (told.code, told.target) == (ScaleCode.PAUSED, ordered)
    elif ordered < force.minimum:
        assert (told.code, told.target) == (ScaleCode.LIMIT, force.minimum)
    else:
        assert (told.code, told.target) == (ScaleCode.UNREADABLE, ordered)
    assert "no group" in told.text


def test_what_was_not_done_is_not_remembered_as_a_change() -> None:
    state = judged(reading=demand(at=0.0, ordered=3, ready=3)).state
    crowd = demand(at=5.0, added=9_000, acked=500, lag=exact(9_000), ordered=3, ready=3, busy=1.0)
    for turn in range(3):
        reading = replace(crowd, at=5.0 * (turn + 1), acked=500 * (turn + 1))
        one = judged(reading=reading, state=state)
        done = one.told("me")
        assert done.target > 3
        changed = one.remembered(replace(done, outcome=Applied.DONE))
        assert (changed.changed_at, changed.direction) == (reading.at, 1)
        for outcome in (Applied.FAILED, Applied.WAITING, Applied.CHANGED, Applied.ADVISED):
            kept = one.remembered(replace(done, outcome=outcome))
            assert (kept.changed_at, kept.direction, kept.damping, kept.trial) == (None, 0, 0, None)
            assert (kept.samples, kept.rates) == (changed.samples, changed.rates)
        state = one.remembered(replace(done, outcome=Applied.FAILED))


def test_a_paused_pool_does_not_remember_what_the_policy_would_have_done() -> None:
    state = judged(reading=demand(at=0.0, ordered=3, ready=3)).state
    crowd = demand(at=5.0, added=9_000, acked=500, lag=exact(9_000), ordered=3, ready=3, busy=1.0)
    one = judged(Steering(paused=True), crowd, state)
    assert one.remembered(one.told("me")).changed_at is None


def test_a_clock_that_goes_back_freezes_nothing() -> None:
    """As after a failover to a server whose clock is behind."""
    state = judged(reading=demand(at=1_000.0, ordered=3, ready=3)).state
    state = judged(reading=demand(at=1_005.0, ordered=3, ready=3), state=state).state
    state = replace(state, rates=(200.0,), changed_at=1_005.0)
    behind = judged(reading=demand(at=400.0, ordered=5, ready=5), state=state)
    assert behind.decision.code is ScaleCode.WARMUP
    assert behind.decision.target == 5
    assert (behind.state.rates, behind.state.changed_at) == ((200.0,), 400.0)


def test_an_unknown_lag_is_told_as_unknown() -> None:
    told = judged(reading=demand(lag=UNKNOWN)).told("me")
    assert told.signals.lag is None
