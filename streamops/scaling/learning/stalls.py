"""Since when work has stood still, and since when there has been none."""

from msgspec.structs import replace

from streamops.model.scaling import Demand
from streamops.scaling.state import ScalingState
from streamops.scaling.tiers import at_least, waiting


def learn_stall(state: ScalingState, demand: Demand) -> ScalingState:
    """The state that knows since when nothing has been acknowledged, though there is work and workers live."""
    if len(state.samples) < 2:  # noqa: PLR2004 - two readings make an interval
        return state
    before = state.samples[-2]
    work = demand.pending > 0 or at_least(demand) > 0
    alive = demand.ready > 0 and before.ready > 0
    still = work and alive and demand.acked <= before.acked
    since = before.at if state.stalled_since is None else state.stalled_since
    return replace(state, stalled_since=since if still else None)


def learn_calm(state: ScalingState, demand: Demand, least: float) -> ScalingState:
    """The state that knows since when no more than ``least`` entries have waited."""
    count = waiting(demand)
    calm = count is not None and count <= least
    since = demand.at if state.calm_since is None else state.calm_since
    return replace(state, calm_since=since if calm else None)
