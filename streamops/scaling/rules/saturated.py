"""More workers were tried and did not help: what lies behind them is the limit."""

from math import ceil

from streamops.model.scaling import ScaleCode
from streamops.scaling.state import Cap
from streamops.scaling.view import Verdict, View
from streamops.scaling.wording import seconds, speed, workers

STEP = 1.25
"""How much more than the cap is tried again."""


def saturated(view: View) -> Verdict | None:
    """Rule 5: back to the knee, hold there while work waits, and try again now and then."""
    cap = view.state.cap
    if cap is None or view.state.calm_since is not None:
        return None
    if view.state.trial is not None:
        text = f"{_said(cap)}; trying {view.demand.ordered}"
        return Verdict(view.demand.ordered, ScaleCode.SATURATED, text)
    wait = cap.since + cap.pause - view.demand.at
    if view.demand.ordered > cap.workers:
        return Verdict(cap.workers, ScaleCode.SATURATED, f"{_said(cap)}: back to {cap.workers}")
    if wait > 0 or view.demand.ready < view.demand.ordered:
        return Verdict(
            view.demand.ordered, ScaleCode.SATURATED, f"{_said(cap)}; next try in {seconds(max(0.0, wait))}"
        )
    target = max(cap.workers + 1, ceil(STEP * cap.workers))
    return Verdict(target, ScaleCode.SATURATED, f"{_said(cap)}; trying {target} after {seconds(cap.pause)}")


def _said(cap: Cap) -> str:
    return (
        f"{workers(cap.workers)} reach {speed(cap.handled)}, and of what more added only"
        f" {max(0.0, cap.gain):.0%} showed: the limit lies downstream"
    )
