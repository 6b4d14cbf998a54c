"""What one worker handles a second while it is busy."""

from msgspec.structs import replace

from streamops.model.scaling import Demand
from streamops.scaling.state import Sample, ScalingState
from streamops.scaling.tuning import Tuning

ENOUGH = 10
"""Entries that an interval must have handled to say anything."""
BUSY = 0.02
"""Workers less busy than this say nothing about their rate."""


def learn_rate(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """The state with one more sample, where this interval gives one.

    Not while nothing is acknowledged, the pool is saturated, or a scale-up is on trial: then slots wait for
    something else than work. Never from throughput over workers alone, which falls when work does.
    """
    if len(state.samples) < 2 or state.stalled_since is not None or state.cap or state.trial:  # noqa: PLR2004
        return state
    sample = _sampled(state.samples[-2], state.samples[-1], demand)
    if sample is None:
        return state
    return replace(state, rates=(*state.rates, sample)[-tuning.rates :])


def _sampled(before: Sample, now: Sample, demand: Demand) -> float | None:
    if now.acked - before.acked < ENOUGH or now.ready < 1 or now.ready != before.ready:
        return None
    if demand.busy is None:
        return now.handled / now.ready if before.waiting and now.waiting else None
    return now.handled / (now.ready * min(1.0, demand.busy)) if demand.busy > BUSY else None
