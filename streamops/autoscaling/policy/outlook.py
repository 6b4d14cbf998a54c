"""What a decision rests on, as numbers, and what would change it, in sentences."""

from collections.abc import Iterator
from math import floor, isfinite
from typing import Final

from streamops.autoscaling.policy.view import PolicyView, seconds, speed, spell, workers
from streamops.model.pools import ScaleCode, ScaleDecision, Signals

_ONLY: Final = {
    ScaleCode.WARMUP: "Rates need a second reading.",
    ScaleCode.SUSPECT: "One acknowledged entry ends it.",
    ScaleCode.STUCK: "One acknowledged entry; then the policy continues.",
    ScaleCode.NOT_STARTING: "One ready worker.",
    ScaleCode.NO_RATE: "Ten entries processed by workers that report how busy they are, or without an idle moment.",
    ScaleCode.OVERRIDE: "The policy decides again once the override ends; `streamops autoscale resume` ends it.",
    ScaleCode.PAUSED: "The policy decides again once the pause ends; `streamops autoscale resume` ends it.",
    ScaleCode.BUDGET: "Scale up once the pools that share its budget need fewer workers, or with a larger budget.",
}


def signals(view: PolicyView) -> Signals:
    """The numbers behind a decision."""
    demand, state = view.demand, view.state
    timed = bool(view.rate or not view.backlog)
    arrivals = _rounded(view.arrivals) if len(state.samples) > 1 else None
    return Signals(
        lag=demand.waiting,
        at_least=None if demand.waiting is not None else demand.lag.lower,
        pending=demand.pending,
        arrivals=arrivals,
        coming=arrivals,
        rate=_rounded(view.rate or None),
        wait=_rounded(view.wait) if timed else None,
        predicted=_rounded(view.ahead) if timed else None,
        objective=view.objective,
        busy=_rounded(demand.busy),
        start_up=_rounded(state.start_up),
        cap=None if state.cap is None else state.cap.workers,
    )


def outlook(view: PolicyView, decision: ScaleDecision) -> tuple[str, ...]:
    """What would change the number that was decided: sentences about these workers, once they all work."""
    if decision.code in _ONLY:
        return (_ONLY[decision.code],)
    if not decision.target:
        return ("One entry, unread, pending or added, scales it up.",)
    return (*_more(view, decision.target), _fewer(view, decision.target))


def least_backlog(view: PolicyView, count: int) -> int:
    """From how many waiting entries on rule ``backlog`` would ask for more than so many workers, all of them working.

    Peaks that were worked off before excuse a backlog like them for as long as its wait is short enough, which is
    taken into account; a cap is not.
    """
    tuning, objective, age = view.tuning, view.objective, view.demand.head_age or 0.0
    capacity = count * view.rate
    spare = capacity - view.arrivals
    done = spare * view.span
    least = [tuning.ahead_share * objective * capacity + min(0.0, done)]
    if age <= tuning.now_share * objective:
        least.append(tuning.now_share * objective * capacity)
    if view.arrivals <= tuning.use * capacity:
        least += [done + spare * objective, count * view.config.prefetch - view.demand.pending]
    heights = sorted((peak.height for peak in view.state.peaks), reverse=True)
    if age < tuning.safe_share * objective and len(heights) >= tuning.excusing:
        late = tuning.safe_share * objective * capacity
        least.append(min(late, heights[tuning.excusing - 1] / tuning.alike))
    return max(1, floor(max(least)) + 1)


def _more(view: PolicyView, count: int) -> Iterator[str]:
    """When there would be more workers."""
    config, cap = view.config, view.state.cap
    if count >= config.maximum:
        yield f"More than {workers(config.maximum)} only with a higher maximum."
    elif cap is not None:
        left = max(0.0, cap.since + cap.pause - view.demand.at)
        yield f"Scale up is tried again in {seconds(left)}, if there is a backlog: more workers did not help before."
    elif view.demand.waiting is None and not config.by_arrivals:
        yield "Scale up only once the lag is known."
    elif view.rate:
        least, capacity = least_backlog(view, count), count * view.rate
        work = f"{seconds(least / capacity)} of work for {workers(count)}"
        yield f"Scale up from a lag of about {spell(least)}: {work}."
        pressed = speed(view.tuning.pressed_use * capacity)
        yield f"Scale up at more than {pressed} added for {seconds(view.tuning.pressed_for)}."


def _fewer(view: PolicyView, count: int) -> str:
    """When there would be fewer."""
    config, tuning, changed = view.config, view.tuning, view.state.changed_at
    if view.demand.waiting is None:
        return "Scale down only once the lag is known."
    if count <= config.minimum:
        return f"Fewer than {workers(config.minimum)} only with a lower minimum."
    if count == 1:
        return f"Scale to 0 once nothing was unread, pending or added for {seconds(config.idle_for.total_seconds())}."
    now = view.demand.at
    cool = 0.0 if changed is None else tuning.cooldown - (now - changed)
    rest = max(cool, tuning.least_look - (now - view.state.samples[0].at))
    if rest > 0:
        return f"Scale down in {seconds(rest)} at the earliest: the last change is too recent, or its history too short."
    return "Scale down once the lag is 0 and fewer workers would have kept up with the recent load."


def _rounded(value: float | None) -> float | None:
    return round(value, 3) if value is not None and isfinite(value) else None
