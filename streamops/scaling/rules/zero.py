"""Down to no workers, and up from none."""

from streamops.model.scaling import ScaleCode
from streamops.scaling.rules.ups import needed
from streamops.scaling.view import Verdict, View
from streamops.scaling.wording import seconds, spell


def wake(view: View) -> Verdict | None:
    """Work for a pool of none: anything waiting or pending, or anything added; or nobody knows."""
    demand, samples = view.demand, view.state.samples
    if demand.ordered:
        return None
    came = samples[-1].added - samples[-2].added if len(samples) > 1 else 0
    if view.waiting is None and not view.backlog:
        return Verdict(1, ScaleCode.WAKE, f"lag unknown ({demand.lag.reason}), {spell(came)} added: 0 to 1")
    if not (came or view.backlog or demand.pending):
        return Verdict(0, ScaleCode.IDLE, "nothing waiting, pending or added: none needed")
    target = max(1, min(needed(view), view.tuning.addition)) if view.rate else 1
    text = (
        f"{spell(view.backlog)} waiting, {spell(demand.pending)} pending, {spell(came)} added: 0 to {target}"
    )
    return Verdict(target, ScaleCode.WAKE, text)


def sleep(view: View) -> Verdict | None:
    """No work of any kind for long enough, in a pool that may go to zero."""
    arrived, demand = view.state.arrived_at, view.demand
    if view.config.minimum or arrived is None or view.waiting != 0 or demand.pending:
        return None
    span, limit = demand.at - arrived, view.config.idle_for.total_seconds()
    if span < limit:
        return None
    text = f"nothing waiting, pending or added for {seconds(span)}: {demand.ordered} to 0"
    return Verdict(0, ScaleCode.IDLE, text)
