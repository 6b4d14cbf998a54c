"""The policy: one reading in, one decision out."""

from math import ceil

from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.learning import (
    begin_trial,
    learn_calm,
    learn_peaks,
    learn_pressure,
    learn_rate,
    learn_stall,
    learn_starts,
    learn_trial,
    record,
    recreated,
)
from streamops.autoscaling.policy.readings import forecast, phantom
from streamops.autoscaling.policy.rules import (
    arrivals,
    backlog,
    draining,
    idle,
    lag_unknown,
    no_rate,
    not_starting,
    saturated,
    sleep,
    steady,
    stuck,
    trend,
    trying,
    unseen,
    wake,
    warmup,
)
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.policy.view import Verdict, View, look, spell
from streamops.model.scaling import Demand, ScaleCode, ScaleDecision

RULES = (
    wake,
    warmup,
    stuck,
    not_starting,
    sleep,
    no_rate,
    unseen,
    lag_unknown,
    saturated,
    trying,
    backlog,
    trend,
    arrivals,
    draining,
    idle,
)
"""In the order in which they are asked; the first that speaks decides, and ``steady`` where none does."""


def decide(config: ScalingConfig, state: ScalingState, demand: Demand) -> tuple[ScalingState, ScaleDecision]:
    """How many workers a pool should have, and what to remember until the next reading.

    A reading that is not newer than the last one changes nothing and gives the last decision again. A stream that
    was created anew begins from nothing.
    """
    if state.last is not None and state.samples and demand.at <= state.samples[-1].at:
        return state, state.last
    learned = _learn(config, ScalingState() if recreated(state, demand) else state, demand)
    view = look(config, learned, demand)
    verdict = limited(view, _judge(view))
    decision = ScaleDecision(verdict.target, verdict.code, verdict.text + _of_phantom(demand))
    return replace(_remember(view, decision), last=decision), decision


def _judge(view: View) -> Verdict:
    for rule in RULES:
        verdict = rule(view)
        if verdict is not None:
            return verdict
    return steady(view)


def _of_phantom(demand: Demand) -> str:
    if not phantom(demand):
        return ""
    return f" (a lag of {spell(demand.lag.entries or 0)} is reported, with nothing behind it)"


def _learn(config: ScalingConfig, state: ScalingState, demand: Demand) -> ScalingState:
    tuning = config.tuning
    state = learn_starts(state, demand)
    state = learn_stall(record(state, demand, tuning), demand)
    state = learn_rate(state, demand, tuning)
    rate = state.rate
    capacity = demand.ready * (rate or 0.0)
    state = learn_peaks(learn_calm(state, demand, tuning.calm * capacity), demand, rate, tuning)
    state = learn_trial(state, demand, tuning)
    return learn_pressure(state, demand, _forecast(config, state), rate, tuning)


def _forecast(config: ScalingConfig, state: ScalingState) -> float:
    start_up = config.start_up.total_seconds() if state.start_up is None else state.start_up
    span = state.samples[-1].at - state.samples[-2].at if len(state.samples) > 1 else 0.0
    return forecast(state.samples, start_up + span, config.tuning)


def _remember(view: View, decision: ScaleDecision) -> ScalingState:
    state, demand = view.state, view.demand
    change = decision.target - demand.ordered
    if not change:
        return state
    direction = 1 if change > 0 else -1
    damping = _damping(view, direction)
    if direction > 0:
        until = demand.at + view.tuning.not_starting * view.start_up + view.tuning.patience
        state = begin_trial(state, demand.ready, decision.target, until)
    else:
        state = replace(state, trial=None)
    return replace(state, changed_at=demand.at, direction=direction, damping=damping)


def _damping(view: View, direction: int) -> int:
    """One more where an up follows a down too soon; one fewer where a down follows long after."""
    state = view.state
    if state.changed_at is None or direction == state.direction:
        return state.damping
    soon = view.demand.at - state.changed_at < view.tuning.flap
    if direction > 0 and soon:
        return min(view.tuning.damping, state.damping + 1)
    return state.damping if soon else max(0, state.damping - 1)


def limited(view: View, verdict: Verdict) -> Verdict:
    """The verdict within what is of use and within the limits; the limits have the last word."""
    useful = _useful(view, verdict)
    target = within(view.config, useful.target)
    if target == useful.target:
        return useful
    said = f"{useful.text}; limits are {view.config.minimum} to {view.config.maximum}: {target}"
    held = useful.target == view.demand.ordered
    return Verdict(target, ScaleCode.LIMIT if held else useful.code, said)


def within(config: ScalingConfig, target: int) -> int:
    """A number of workers brought within the limits."""
    return min(config.maximum, max(config.minimum, target))


def _useful(view: View, verdict: Verdict) -> Verdict:
    """An up goes no further than there are lanes, or portions of work for each; never below what there is."""
    useful = useful_workers(view)
    ceiling = verdict.target if useful is None else max(useful, view.demand.ordered)
    if verdict.target <= ceiling:
        return verdict
    said = f"{verdict.text}; no more than {spell(ceiling)} would have work"
    return replace(verdict, target=ceiling, text=said)


def useful_workers(view: View) -> int | None:
    """How many workers can have work at all: lanes, or portions of what is there and will be; none where unknown."""
    config, demand = view.config, view.demand
    if view.waiting is None:
        return config.lanes
    enough = ceil(view.coming / (config.tuning.use * view.rate)) if view.rate else 1
    portions = max(1, enough, ceil((view.backlog + demand.pending) / config.prefetch))
    return portions if config.lanes is None else min(config.lanes, portions)
