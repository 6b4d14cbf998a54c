"""More workers were tried and did not help: what lies behind them is the limit."""

from math import ceil

from streamops.model.scaling import ScaleCode
from streamops.scaling.rules.ups import arrivals, backlog, trend
from streamops.scaling.state import Cap
from streamops.scaling.view import Verdict, View
from streamops.scaling.wording import handling, seconds, speed, spell, workers

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
    if view.demand.ordered < cap.workers:
        return _up_to(view, cap)
    wait = cap.since + cap.pause - view.demand.at
    if view.demand.ordered > cap.workers:
        return Verdict(cap.workers, ScaleCode.SATURATED, f"{_said(cap)}: back to {cap.workers}")
    if wait > 0 or view.demand.ready < view.demand.ordered:
        return Verdict(
            view.demand.ordered, ScaleCode.SATURATED, f"{_said(cap)}; next try in {seconds(max(0.0, wait))}"
        )
    target = max(cap.workers + 1, ceil(STEP * cap.workers))
    return Verdict(target, ScaleCode.SATURATED, f"{_said(cap)}; trying {target} after {seconds(cap.pause)}")


def _up_to(view: View, cap: Cap) -> Verdict | None:
    """As many as help may be ordered like any others."""
    more = backlog(view) or trend(view) or arrivals(view)
    if more is None or more.target <= cap.workers:
        return more
    return Verdict(cap.workers, ScaleCode.SATURATED, f"{more.text}; {_said(cap)}: {cap.workers}")


def trying(view: View) -> Verdict | None:
    """Rule 5: no more are ordered while those ordered last are there and have not helped so far.

    Else each order would begin the trial anew, and a pool that waits for what lies behind it would grow to its limit.
    """
    trial, demand = view.state.trial, view.demand
    if trial is None or not trial.handled or trial.gain >= view.tuning.gain:
        return None
    text = (
        f"{spell(view.backlog)} waiting; {handling(demand.ready)} {speed(trial.after)}, {trial.workers} did"
        f" {speed(trial.before)}: holding until it shows whether more help"
    )
    return Verdict(demand.ordered, ScaleCode.DRAINING, text)


def _said(cap: Cap) -> str:
    return (
        f"{workers(cap.workers)} reach {speed(cap.handled)}, and of what more added only"
        f" {max(0.0, cap.gain):.0%} showed: the limit lies downstream"
    )
