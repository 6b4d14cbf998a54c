"""Backlogs that came and went."""

from msgspec.structs import replace

from streamops.model.scaling import Demand
from streamops.scaling.state import Peak, ScalingState
from streamops.scaling.tiers import waiting
from streamops.scaling.tuning import Tuning


def learn_peaks(state: ScalingState, demand: Demand, rate: float | None, tuning: Tuning) -> ScalingState:
    """The state that knows the backlog that is there and those that were worked off."""
    count = waiting(demand)
    if count is None or rate is None:
        return state
    wait = count / (max(1, demand.ready) * rate)
    if wait > tuning.calm:
        return replace(state, climb=_higher(state.climb, Peak(demand.at, count, wait, demand.ordered)))
    peaks = tuple(peak for peak in state.peaks if peak.at > demand.at - tuning.memory)
    return replace(state, climb=None, peaks=peaks if state.climb is None else (*peaks, state.climb))


def _higher(climb: Peak | None, now: Peak) -> Peak:
    if climb is None:
        return now
    return Peak(
        now.at, max(climb.height, now.height), max(climb.wait, now.wait), max(climb.workers, now.workers)
    )
