"""How long workers take to start, learned from those that did."""

from msgspec.structs import replace

from streamops.model.scaling import Demand
from streamops.scaling.state import ScalingState

WEIGHT = 0.5
"""Of the newest start in the mean."""


def learn_starts(state: ScalingState, demand: Demand) -> ScalingState:
    """The state that knows which workers came, which were lost, and which still start.

    Workers come in the order in which they were ordered. One that is lost and replaced starts now.
    """
    came = max(0, demand.ready - state.samples[-1].ready) if state.samples else 0
    arrived, still = state.starting[:came], state.starting[came:]
    start_up = state.start_up
    for ordered_at in arrived:
        took = demand.at - ordered_at
        start_up = took if start_up is None else (1 - WEIGHT) * start_up + WEIGHT * took
    return replace(state, starting=_matched(still, demand), start_up=start_up)


def _matched(starting: tuple[float, ...], demand: Demand) -> tuple[float, ...]:
    """As many as are ordered and not ready; those ordered last are given up first."""
    missing = max(0, demand.ordered - demand.ready)
    return (*starting[:missing], *([demand.at] * (missing - len(starting))))
