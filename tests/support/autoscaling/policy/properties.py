"""Hypothesis strategies of readings and limits, and the decisions that follow from them."""

from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import Demand, ScaleDecision
from tests.support.autoscaling.policy.pools import UNKNOWN, demand
from tests.support.invented import exact

COUNTS = st.one_of(st.just(0), st.integers(0, 100), st.integers(0, 100_000), st.integers(0, 2**53))
LAGS = st.one_of(
    COUNTS.map(exact),
    st.just(UNKNOWN),
    COUNTS.map(lambda count: Lag(None, count, None, LagBasis.LOWER, "at least")),
    COUNTS.map(lambda count: Lag(None, 0, count, LagBasis.UPPER, "at most")),
)
CONFIGS = st.builds(
    lambda least, more, prefetch: ScalingConfig(
        minimum=least, maximum=max(1, least + more), prefetch=prefetch
    ),
    st.integers(0, 5),
    st.integers(0, 40),
    st.integers(1, 1_000),
)


@st.composite
def histories(draw: st.DrawFn, most: int = 25) -> list[Demand]:
    """Readings in order of time, otherwise as odd as they may be."""
    reading, readings = demand(at=1_000.0), []
    for _ in range(draw(st.integers(1, most))):
        ordered = draw(st.integers(0, 60))
        reading = replace(
            reading,
            at=reading.at + draw(st.sampled_from([0.5, 5.0, 15.0, 300.0])),
            added=max(0, reading.added + draw(COUNTS | st.integers(-1_000, 0))),
            acked=max(0, reading.acked + draw(COUNTS | st.integers(-1_000, 0))),
            lag=draw(LAGS),
            head_age=draw(st.none() | st.floats(0, 1e6)),
            pending=draw(COUNTS),
            ordered=ordered,
            ready=draw(st.integers(0, ordered + 1)),
            busy=draw(st.none() | st.floats(0, 1)),
            probed_empty=draw(st.booleans()),
        )
        readings.append(reading)
    return readings


def told(config: ScalingConfig, readings: list[Demand]) -> list[tuple[ScalingState, ScaleDecision]]:
    state, out = ScalingState(), []
    for reading in readings:
        state, decision = decide(config, state, reading)
        out.append((state, decision))
    return out
