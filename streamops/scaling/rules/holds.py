"""Reasons to leave everything as it is."""

from streamops.model.scaling import ScaleCode
from streamops.scaling.view import Verdict, View
from streamops.scaling.wording import handling, seconds, speed, spell, workers


def warmup(view: View) -> Verdict | None:
    """Rule 1: one reading has no rates."""
    if len(view.state.samples) > 1:
        return None
    return _hold(view, ScaleCode.WARMUP, f"first reading; {workers(view.demand.ordered)} until there are two")


def stuck(view: View) -> Verdict | None:
    """Rule 2: there is work, workers live, and nothing is acknowledged."""
    since, demand = view.state.stalled_since, view.demand
    if since is None:
        return None
    span = demand.at - since
    said = f"{workers(demand.ready)} alive, nothing acknowledged for {seconds(span)}, {spell(demand.pending)} pending"
    if span < view.tuning.stuck_after:
        return _hold(view, ScaleCode.SUSPECT, f"{said}: waiting until {seconds(view.tuning.stuck_after)}")
    return _hold(view, ScaleCode.STUCK, f"{said}: dead handler or poison entry; more workers will not help")


def not_starting(view: View) -> Verdict | None:
    """Rule 3: workers were ordered long ago, and none lives."""
    starting, demand = view.state.starting, view.demand
    if demand.ready or not starting:
        return None
    span, limit = demand.at - starting[0], view.tuning.not_starting * view.start_up
    if span <= limit:
        return None
    said = f"{workers(demand.ordered)} ordered, none alive after {seconds(span)} (start-up {seconds(view.start_up)})"
    return _hold(view, ScaleCode.NOT_STARTING, f"{said}: look at why they do not start")


def no_rate(view: View) -> Verdict | None:
    """Rule 3: nobody has seen how fast a worker is."""
    if view.rate:
        return None
    return _hold(
        view,
        ScaleCode.NO_RATE,
        f"no worker of {view.demand.ready} has been seen busy: its rate is not known, {spell(view.backlog)} waiting",
    )


def lag_unknown(view: View) -> Verdict | None:
    """Rule 4: without a lag nobody knows what is left over; arrivals are counted all the same."""
    if view.waiting is not None:
        return None
    reason = view.demand.lag.reason or "no reason given"
    return _hold(
        view,
        ScaleCode.LAG_UNKNOWN,
        f"lag unknown ({reason}): holding {workers(view.demand.ordered)}, arrivals {speed(view.arrivals)}"
        f" of {speed(view.capacity)}",
    )


def draining(view: View) -> Verdict | None:
    """Rule 7: the backlog is being worked off, or those who will do it are starting."""
    demand = view.demand
    if _starting(view):
        text = f"{demand.ordered - demand.ready} of {workers(demand.ordered)} starting, {spell(view.backlog)} waiting"
        return _hold(view, ScaleCode.STARTING, text)
    if view.state.calm_since is not None:
        return None
    text = (
        f"{spell(view.backlog)} waiting, worked off in {seconds(view.ahead)} by {workers(demand.ordered)}"
        f" (limit {seconds(view.objective)})"
    )
    return _hold(view, ScaleCode.DRAINING, text)


def _starting(view: View) -> bool:
    """Whether a worker may still come; one that is long overdue holds nothing up."""
    starting = view.state.starting
    return bool(starting) and view.demand.at - starting[-1] <= view.tuning.not_starting * view.start_up


def steady(view: View) -> Verdict:
    """Rule 9: nothing speaks for a change."""
    text = (
        f"{speed(view.arrivals)} coming in, {handling(view.demand.ordered)} {speed(view.capacity)},"
        f" {spell(view.backlog)} waiting"
    )
    return Verdict(view.demand.ordered, ScaleCode.STEADY, text)


def _hold(view: View, code: ScaleCode, text: str) -> Verdict:
    return Verdict(view.demand.ordered, code, text)
