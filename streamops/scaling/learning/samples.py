"""The record of readings."""

from math import exp, log

from msgspec.structs import replace

from streamops.model.scaling import Demand
from streamops.scaling.state import Sample, ScalingState
from streamops.scaling.tiers import waiting
from streamops.scaling.tuning import Tuning


def recreated(state: ScalingState, demand: Demand) -> bool:
    """Whether the stream has begun anew: it never had more entries than it has had now."""
    return bool(state.samples) and demand.added < state.samples[-1].added


def record(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """The state with this reading at the end of its record."""
    before = state.samples[-1] if state.samples else None
    sample = _sample(before, demand, tuning, first=len(state.samples) == 1)
    arrived = before is None or demand.added > before.added
    return replace(
        state,
        samples=(*_kept(state.samples, demand.at - tuning.memory), sample),
        arrived_at=demand.at if arrived else state.arrived_at,
    )


def _kept(samples: tuple[Sample, ...], since: float) -> tuple[Sample, ...]:
    first = 0
    while first < len(samples) and samples[first].at < since:
        first += 1
    return samples[first:]


def _sample(before: Sample | None, demand: Demand, tuning: Tuning, *, first: bool) -> Sample:
    arrivals, handled = _speeds(before, demand)
    return Sample(
        demand.at,
        demand.added,
        demand.acked,
        waiting(demand),
        demand.ready,
        demand.ordered,
        _level(before, demand.at, arrivals, tuning.half_life, first=first),
        arrivals,
        handled,
    )


def _speeds(before: Sample | None, demand: Demand) -> tuple[float, float]:
    if before is None:
        return 0.0, 0.0
    span = demand.at - before.at
    return max(0, demand.added - before.added) / span, max(0, demand.acked - before.acked) / span


def _level(before: Sample | None, at: float, arrivals: float, half_life: float, *, first: bool) -> float:
    """The exponential mean; the first interval is taken as it is."""
    if before is None or first:
        return arrivals
    keep = exp(-log(2) * (at - before.at) / half_life)
    return keep * before.level + (1 - keep) * arrivals
