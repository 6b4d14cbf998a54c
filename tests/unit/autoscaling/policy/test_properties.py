"""What holds whatever a pool goes through."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.pools import Demand, ScaleCode
from tests.support.autoscaling.policy.pools import demand
from tests.support.autoscaling.policy.properties import CONFIGS, histories, told
from tests.support.invented import exact


@given(CONFIGS, histories())
def test_decisions_keep_to_the_limits_and_to_what_is_known(
    config: ScalingConfig, readings: list[Demand]
) -> None:
    """None below or above the limits, none down on an unknown lag, none up while stuck; each with a figure."""
    for reading, (_, decision) in zip(readings, told(config, readings), strict=True):
        assert config.minimum <= decision.target <= config.maximum
        assert any(letter.isdigit() for letter in decision.text) or decision.target == 0
        if reading.waiting is None:
            assert decision.target >= min(reading.ordered, config.maximum)
        if decision.code in (ScaleCode.SUSPECT, ScaleCode.STUCK):
            assert decision.target <= max(reading.ordered, config.minimum)


@given(CONFIGS, histories())
def test_the_same_reading_again_changes_nothing(config: ScalingConfig, readings: list[Demand]) -> None:
    state, decision = told(config, readings)[-1]
    assert decide(config, state, readings[-1]) == (state, decision)


@given(CONFIGS, histories(most=15))
def test_a_state_survives_being_written_down(config: ScalingConfig, readings: list[Demand]) -> None:
    state, _ = told(config, readings)[-1]
    written = msgspec.json.encode(state)
    assert msgspec.json.decode(written, type=ScalingState) == state


@given(st.integers(0, 200_000), st.integers(0, 200_000), st.integers(1, 10), st.integers(0, 2_000))
def test_a_longer_backlog_never_asks_for_fewer(first: int, second: int, workers: int, rate: int) -> None:
    config = ScalingConfig(maximum=100)
    less, more = sorted((first, second))
    past = [
        demand(at=5.0 * turn, added=5 * rate * turn, acked=1_000 * turn, ordered=workers, ready=workers)
        for turn in range(6)
    ]
    state, _ = told(config, past)[-1]
    now = replace(past[-1], at=30.0, added=30 * rate, acked=6_000, head_age=10.0)
    targets = [decide(config, state, replace(now, lag=exact(count)))[1].target for count in (less, more)]
    assert targets == sorted(targets)


@given(histories())
def test_memory_is_bounded(readings: list[Demand]) -> None:
    config = ScalingConfig()
    for state, _ in told(config, readings):
        newest = state.samples[-1].at
        assert all(newest - sample.at <= config.tuning.memory for sample in state.samples)
        assert len(state.rates) <= config.tuning.rate_samples
        assert len(state.starting) <= 60
