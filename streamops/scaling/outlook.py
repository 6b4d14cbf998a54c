"""What a decision rests on, as numbers, and what would change it, in sentences."""

from math import ceil, isfinite

from streamops.model.pools import Signals
from streamops.model.scaling import Demand, ScaleCode, ScaleDecision
from streamops.scaling.config import ScalingConfig
from streamops.scaling.state import ScalingState
from streamops.scaling.view import View, look
from streamops.scaling.wording import seconds, speed, spell, workers


def signals(config: ScalingConfig, state: ScalingState, demand: Demand) -> Signals:
    """The numbers behind the last decision.

    Args:
        config: What the operator set.
        state: What ``decide`` left behind with that decision.
        demand: The reading that it was about.
    """
    view = look(config, state, demand)
    known = len(state.samples) > 1
    return Signals(
        lag=view.waiting,
        at_least=None if view.waiting is not None else demand.lag.lower,
        pending=demand.pending,
        arrivals=_rounded(view.arrivals) if known else None,
        coming=_rounded(view.coming) if known else None,
        rate=_rounded(view.rate) if view.rate else None,
        wait=_rounded(view.wait) if view.rate or not view.backlog else None,
        predicted=_rounded(view.ahead) if view.rate or not view.backlog else None,
        objective=view.objective,
        busy=None if demand.busy is None else _rounded(demand.busy),
        start_up=None if state.start_up is None else _rounded(state.start_up),
        cap=None if state.cap is None else state.cap.workers,
    )


def outlook(
    config: ScalingConfig, state: ScalingState, demand: Demand, decision: ScaleDecision
) -> tuple[str, ...]:
    """What would change the last decision, a sentence each; the same arguments, and that decision."""
    view = look(config, state, demand)
    if decision.code in _ONLY:
        return (_ONLY[decision.code],)
    return tuple(filter(None, (_more(view), _pressed(view), _fewer(view), _uncapped(view))))


_ONLY = {
    ScaleCode.WARMUP: "The next reading makes rates of it.",
    ScaleCode.SUSPECT: "One acknowledged entry ends the suspicion.",
    ScaleCode.STUCK: "One acknowledged entry: then the policy goes on from there.",
    ScaleCode.NOT_STARTING: "One worker that works.",
    ScaleCode.NO_RATE: "Ten entries handled by workers that tell how busy they are, or by a queue that does not run dry.",
}


def _more(view: View) -> str:
    """From what backlog on there would be more workers."""
    if view.demand.ordered >= view.config.maximum:
        return f"More than {workers(view.config.maximum)} only with a higher maximum."
    if view.waiting is None:
        return "Fewer only with a lag that is known again."
    if not view.capacity:
        return ""
    least = ceil(view.tuning.ahead_share * view.objective * view.capacity)
    limit = view.tuning.ahead_share * view.objective
    return f"More from about {spell(least)} waiting on: {seconds(limit)} of work for {workers(view.demand.ordered)}."


def _pressed(view: View) -> str:
    """From what arrivals on, the same."""
    if not view.capacity or view.demand.ordered >= view.config.maximum:
        return ""
    most = view.tuning.pressed_use * view.capacity
    return f"More when over {speed(most)} are expected for {seconds(view.tuning.pressed_for)}."


def _fewer(view: View) -> str:
    """When there could be fewer."""
    ordered, tuning = view.demand.ordered, view.tuning
    if view.waiting is None:
        return ""
    if ordered <= view.config.minimum:
        return f"Fewer than {workers(view.config.minimum)} only with a lower minimum."
    changed = view.state.changed_at
    left = 0.0
    if changed is not None:
        left = tuning.cooldown * 2.0**view.state.damping - (view.demand.at - changed)
    if left > 0:
        return f"Fewer not within {seconds(left)}: the last change is too fresh."
    return "Fewer once nothing waits, and what came in of late would not have waited too long for them."


def _uncapped(view: View) -> str:
    cap = view.state.cap
    if cap is None:
        return ""
    left = max(0.0, cap.since + cap.pause - view.demand.at)
    return f"More than {workers(cap.workers)} is tried again in {seconds(left)}: they did not help before."


def _rounded(value: float) -> float | None:
    return round(value, 3) if isfinite(value) else None
