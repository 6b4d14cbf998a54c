"""From a reading to a decision, with what people told its controller above the policy."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.decisions import (
    Assignment,
    PendingDecision,
    in_force,
    judge,
    judge_blindly,
    resumed,
)
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import Cap, Peak, ScalingState, Trial
from streamops.model.pools import FREE, Applied, Demand, PoolOverrides, PoolSize, ScaleCode
from tests.support.autoscaling.policy.pools import UNKNOWN, demand
from tests.support.autoscaling.policy.properties import CONFIGS, histories, told
from tests.support.invented import NOW, exact

CONFIG = ScalingConfig(minimum=1, maximum=10)
ASSIGNMENT = Assignment(pool="billing", stream="orders", group="workers", config=CONFIG)
NEXT_HOUR, LAST_HOUR = NOW + timedelta(hours=1), NOW - timedelta(hours=1)

STEERINGS = st.builds(
    PoolOverrides,
    paused=st.booleans(),
    override=st.none() | st.integers(0, 60),
    until=st.sampled_from([None, NOW, NEXT_HOUR, LAST_HOUR]),
    minimum=st.none() | st.integers(0, 20),
    maximum=st.none() | st.integers(1, 20),
)


def judged(
    steering: PoolOverrides = FREE, reading: Demand | None = None, state: ScalingState | None = None
) -> PendingDecision:
    return judge(ASSIGNMENT, state or ScalingState(), reading or demand(ordered=3, ready=3), steering, NOW)


@pytest.mark.parametrize(
    ("steering", "target", "code"),
    [
        pytest.param(FREE, 3, ScaleCode.WARMUP, id="nobody"),
        pytest.param(PoolOverrides(paused=True), 3, ScaleCode.PAUSED, id="paused"),
        pytest.param(PoolOverrides(override=7), 7, ScaleCode.OVERRIDE, id="override"),
        pytest.param(PoolOverrides(override=0), 0, ScaleCode.OVERRIDE, id="override to none"),
        pytest.param(PoolOverrides(override=7, paused=True), 7, ScaleCode.OVERRIDE, id="both: the number"),
        pytest.param(PoolOverrides(override=7, until=NEXT_HOUR), 7, ScaleCode.OVERRIDE, id="until later"),
        pytest.param(PoolOverrides(override=7, until=NOW), 3, ScaleCode.WARMUP, id="just over"),
        pytest.param(PoolOverrides(paused=True, until=LAST_HOUR), 3, ScaleCode.WARMUP, id="long over"),
        pytest.param(PoolOverrides(minimum=5), 5, ScaleCode.LIMIT, id="more at least"),
        pytest.param(PoolOverrides(maximum=2), 2, ScaleCode.LIMIT, id="fewer at most"),
        pytest.param(PoolOverrides(minimum=5, until=LAST_HOUR), 5, ScaleCode.LIMIT, id="limits do not end"),
        pytest.param(
            PoolOverrides(minimum=5, paused=True), 3, ScaleCode.PAUSED, id="a pause changes nothing"
        ),
    ],
)
def test_people_come_before_the_policy(steering: PoolOverrides, target: int, code: ScaleCode) -> None:
    decision = judged(steering).decision
    assert (decision.target, decision.code) == (target, code)


@given(CONFIGS, histories(20), STEERINGS)
def test_whatever_is_told_the_limits_hold_and_no_lag_unknown_takes_a_worker(
    config: ScalingConfig, readings: list[Demand], steering: PoolOverrides
) -> None:
    state, assignment = ScalingState(), replace(ASSIGNMENT, config=config)
    force = in_force(config, steering)
    assert force.minimum <= force.maximum
    for reading in readings:
        one = judge(assignment, state, reading, steering, NOW)
        state, decision = one.view.state, one.decision
        if decision.code is ScaleCode.OVERRIDE:
            assert decision.target == steering.override
            inside = force.minimum <= decision.target <= force.maximum
            assert inside or "beyond the limits" in decision.text
        elif decision.code is ScaleCode.PAUSED:
            assert decision.target == reading.ordered
        else:
            assert force.minimum <= decision.target <= force.maximum
            if reading.waiting is None:
                assert decision.target >= min(reading.ordered, force.maximum)
        assert one.written("me").outlook


@given(STEERINGS, st.integers(0, 30))
def test_blindly_only_people_and_the_least_there_may_be_count(steering: PoolOverrides, ordered: int) -> None:
    decision = judge_blindly(CONFIG, PoolSize(ordered=ordered), steering, NOW, "no group")
    force = in_force(CONFIG, steering)
    holds = steering.until is None or steering.until > NOW
    if holds and steering.override is not None:
        assert (decision.code, decision.target) == (ScaleCode.OVERRIDE, steering.override)
    elif holds and steering.paused:
        assert (decision.code, decision.target) == (ScaleCode.PAUSED, ordered)
    elif ordered < force.minimum:
        assert (decision.code, decision.target) == (ScaleCode.LIMIT, force.minimum)
    else:
        assert (decision.code, decision.target) == (ScaleCode.UNREADABLE, ordered)
    assert "no group" in decision.text


def test_what_was_not_done_is_not_remembered_as_a_change() -> None:
    state = judged(reading=demand(at=0.0, ordered=3, ready=3)).view.state
    crowd = demand(at=5.0, added=9_000, acked=500, lag=exact(9_000), ordered=3, ready=3, busy=1.0)
    for turn in range(3):
        reading = replace(crowd, at=5.0 * (turn + 1), acked=500 * (turn + 1))
        one = judged(reading=reading, state=state)
        done = one.written("me")
        assert done.target > 3
        changed = one.remembered(replace(done, outcome=Applied.DONE))
        assert changed.changed_at == reading.at
        for outcome in (Applied.FAILED, Applied.WAITING, Applied.CHANGED, Applied.ADVISED):
            kept = one.remembered(replace(done, outcome=outcome))
            assert (kept.changed_at, kept.trial) == (None, None)
            assert (kept.samples, kept.rates) == (changed.samples, changed.rates)
        state = one.remembered(replace(done, outcome=Applied.FAILED))


def test_a_paused_pool_does_not_remember_what_the_policy_would_have_done() -> None:
    state = judged(reading=demand(at=0.0, ordered=3, ready=3)).view.state
    crowd = demand(at=5.0, added=9_000, acked=500, lag=exact(9_000), ordered=3, ready=3, busy=1.0)
    one = judged(PoolOverrides(paused=True), crowd, state)
    assert one.remembered(one.written("me")).changed_at is None


def test_a_clock_that_goes_back_freezes_nothing() -> None:
    """As after a failover to a server whose clock is behind."""
    state = judged(reading=demand(at=1_000.0, ordered=3, ready=3)).view.state
    state = judged(reading=demand(at=1_005.0, ordered=3, ready=3), state=state).view.state
    state = replace(state, rates=(200.0,), changed_at=1_005.0)
    behind = judged(reading=demand(at=400.0, ordered=5, ready=5), state=state)
    assert behind.decision.code is ScaleCode.WARMUP
    assert behind.decision.target == 5
    assert (behind.view.state.rates, behind.view.state.changed_at) == ((200.0,), 400.0)


def test_an_unknown_lag_is_told_as_unknown() -> None:
    assert judged(reading=demand(lag=UNKNOWN)).written("me").signals.lag is None


def test_a_trial_under_way_goes_on_and_one_that_never_began_does_not() -> None:
    one = judged()
    trial = Trial(before=100.0, rate=50.0, workers=2, target=4, until=90.0)
    asked = replace(one.view.state, changed_at=1.0, trial=replace(trial, target=6), last=one.decision)
    view = replace(one.view, state=asked, demand=demand(ordered=2, ready=2))
    failed = replace(one.written("me"), outcome=Applied.FAILED)
    for before in (ScalingState(), ScalingState(trial=trial), ScalingState(changed_at=0.5)):
        kept = replace(one, before=before, view=view).remembered(failed)
        assert (kept.changed_at, kept.trial) == (before.changed_at, before.trial)
    # One that was judged meanwhile stays judged.
    judged_since = replace(view, state=replace(asked, trial=None))
    assert replace(one, before=ScalingState(trial=trial), view=judged_since).remembered(failed).trial is None


@given(CONFIGS, histories(10))
def test_lessons_are_taken_over_and_readings_are_not(config: ScalingConfig, readings: list[Demand]) -> None:
    learned, _ = told(config, readings)[-1]
    now = readings[-1].at + 3
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(learned), type=ScalingState)
    state = resumed(kept, now)
    for lesson in ("rates", "start_up", "changed_at", "peaks", "cap"):
        assert getattr(state, lesson) == getattr(learned, lesson)
    for reading in ("samples", "starting", "stalled_since", "pressed_since", "idle_since", "trial", "last"):
        assert not getattr(state, reading)
    # Another controller's counters begin anew, which is not taken for a stream that was made anew.
    after, _ = decide(config, state, replace(readings[-1], at=now, added=0, acked=0))
    assert after.rates == state.rates


def test_another_clock_s_future_is_now() -> None:
    cap = Cap(3, 1.0, 0.1, since=800.0, pause=300.0)
    state = resumed(ScalingState(changed_at=900.0, peaks=(Peak(50.0, 1), Peak(990.0, 1)), cap=cap), 100.0)
    assert (state.changed_at, state.peaks, state.cap) == (
        100.0,
        (Peak(50.0, 1),),
        replace(cap, since=100.0),
    )


def test_what_earlier_versions_have_learned_is_taken_over() -> None:
    written = msgspec.msgpack.encode(
        {
            "rates": [200.0],
            "start_up": 12.0,
            "direction": 1,
            "damping": 2,
            "climb": {"at": 60.0, "height": 70, "wait": 1.0, "workers": 3},
            "calm_since": None,
            "peaks": [{"at": 50.0, "height": 900, "wait": 2.0, "workers": 3}],
            "last": {"target": 3, "code": "trend", "text": "lag rises"},
        }
    )
    state = resumed(msgspec.msgpack.decode(written, type=ScalingState), 100.0)
    assert (state.rates, state.start_up, state.peaks) == ((200.0,), 12.0, (Peak(50.0, 900),))
