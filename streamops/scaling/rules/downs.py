"""Reasons to let workers go."""

from math import ceil

from streamops.model.scaling import ScaleCode
from streamops.scaling.replay import recent, worst_wait
from streamops.scaling.view import Verdict, View
from streamops.scaling.wording import seconds, speed, workers


def idle(view: View) -> Verdict | None:
    """Rule 8: fewer workers would have done, as a replay of what came in shows."""
    ordered = view.demand.ordered
    if ordered <= view.config.minimum or _resting(view):
        return None
    samples = recent(view.state.samples, _look_back(view))
    span = samples[-1].at - samples[0].at
    if span < view.tuning.least_look:
        return None
    for fewer in range(_least(view), ordered):
        worst = worst_wait(samples, view.rate, fewer)
        if worst < view.tuning.safe_share * view.objective:
            return _down(view, fewer, span, worst)
    return None


def _least(view: View) -> int:
    """No fewer than half, and enough for what is coming in."""
    use = ceil(view.coming / (view.tuning.down_use * view.rate))
    return max(view.config.minimum, 1, ceil(view.demand.ordered / 2), use)


def _resting(view: View) -> bool:
    """Whether the last change is too fresh."""
    changed = view.state.changed_at
    rest = view.tuning.cooldown * 2.0**view.state.damping
    return changed is not None and view.demand.at - changed < rest


def _look_back(view: View) -> float:
    if len(view.state.peaks) >= view.tuning.recurring:
        return view.tuning.memory
    return min(view.tuning.memory, view.tuning.look_back * 2.0**view.state.damping)


def _down(view: View, fewer: int, span: float, worst: float) -> Verdict:
    code = ScaleCode.SAWTOOTH if len(view.state.peaks) >= view.tuning.recurring else ScaleCode.IDLE
    text = (
        f"last {seconds(span)} replayed on {workers(fewer)} peak at {seconds(worst)} of wait"
        f" (limit {seconds(view.tuning.safe_share * view.objective)}), {speed(view.arrivals)} coming in:"
        f" {view.demand.ordered} to {fewer}"
    )
    return Verdict(fewer, code, text)
