"""What a controller takes over from the one before."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.judging import in_time, resumed, undone
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.decide import decide
from streamops.autoscaling.policy.state import Cap, Peak, ScalingState, Trial
from streamops.model.scaling import Demand
from tests.support.autoscaling.policy.properties import CONFIGS, histories, told


@given(CONFIGS, histories(10))
def test_lessons_are_taken_over_and_readings_are_not(config: ScalingConfig, readings: list[Demand]) -> None:
    learned, _ = told(config, readings)[-1]
    now = readings[-1].at + 3
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(learned), type=ScalingState)
    state = resumed(kept, now)
    for lesson in ("rates", "start_up", "changed_at", "direction", "damping", "peaks", "cap"):
        assert getattr(state, lesson) == getattr(learned, lesson)
    for reading in ("samples", "starting", "stalled_since", "pressed_since", "calm_since", "trial", "last"):
        assert not getattr(state, reading)
    # Another controller's counters begin anew, which is not taken for a stream that was made anew.
    after, _ = decide(config, state, replace(readings[-1], at=now, added=0, acked=0))
    assert after.rates == state.rates


def test_another_clock_s_future_is_now() -> None:
    state = resumed(
        ScalingState(
            changed_at=900.0,
            peaks=(Peak(50.0, 1, 1.0, 1), Peak(990.0, 1, 1.0, 1)),
            cap=Cap(3, 1.0, 0.1, since=800.0, pause=300.0),
        ),
        100.0,
    )
    assert state.changed_at == 100.0
    assert state.peaks == (Peak(50.0, 1, 1.0, 1),)
    assert state.cap is not None
    assert state.cap.since == 100.0


@given(CONFIGS, histories(10), st.integers(-1_000, 1_000))
def test_only_a_clock_that_goes_back_forgets_readings(
    config: ScalingConfig, readings: list[Demand], shift: int
) -> None:
    state, _ = told(config, readings)[-1]
    now = readings[-1].at + shift
    assert in_time(state, now) == (resumed(state, now) if shift < 0 else state)


def test_a_trial_that_was_under_way_goes_on_and_one_that_never_began_does_not() -> None:
    trial = Trial(before=100.0, rate=50.0, workers=2, target=4, until=90.0)
    wider = replace(trial, target=6)
    changed: dict[str, Any] = {"changed_at": 1.0, "direction": 1, "damping": 1}
    for before in (ScalingState(), ScalingState(trial=trial), ScalingState(changed_at=0.5, direction=-1)):
        assert undone(before, replace(before, trial=wider, **changed)) == before
    # One that was judged meanwhile stays judged.
    assert undone(ScalingState(trial=trial), ScalingState(**changed)) == ScalingState()
