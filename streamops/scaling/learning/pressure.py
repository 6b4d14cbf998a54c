"""How long arrivals have been more than the workers can take."""

from msgspec.structs import replace

from streamops.model.scaling import Demand
from streamops.scaling.state import ScalingState
from streamops.scaling.tuning import Tuning


def learn_pressure(
    state: ScalingState, demand: Demand, forecast: float, rate: float | None, tuning: Tuning
) -> ScalingState:
    """The state that knows since when forecast arrivals have been above capacity."""
    pressed = rate is not None and forecast > tuning.pressed_use * demand.ordered * rate
    since = demand.at if state.pressed_since is None else state.pressed_since
    return replace(state, pressed_since=since if pressed else None)
