"""What a decision rests on, as numbers, and what would change it, in sentences."""

from math import floor, isfinite

from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.rules import ALIKE, PEAKS, trying
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.policy.view import View, look, seconds, speed, spell, workers
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import Signals
from streamops.model.scaling import Demand, ScaleCode, ScaleDecision


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
    """What would change the number that was decided, a sentence each.

    Args:
        config: What the operator set.
        state: What ``decide`` left behind with that decision.
        demand: The reading that it was about.
        decision: The decision. The sentences are about the workers that it asks for, once they all work.
    """
    if decision.code in _ONLY:
        return (_ONLY[decision.code],)
    view = look(config, state, demand)
    count = decision.target
    if not count:
        return ("One entry that waits, is pending or comes wakes it.",)
    return tuple(filter(None, (*_more(view, count), _fewer(view, count))))


_ONLY = {
    ScaleCode.WARMUP: "The next reading makes rates of it.",
    ScaleCode.SUSPECT: "One acknowledged entry ends the suspicion.",
    ScaleCode.STUCK: "One acknowledged entry: then the policy goes on from there.",
    ScaleCode.NOT_STARTING: "One worker that works.",
    ScaleCode.NO_RATE: "Ten entries handled by workers that tell how busy they are, or by a queue that does not run dry.",
    ScaleCode.OVERRIDE: "The policy decides again once the override ends; `streamops autoscale resume` ends it.",
    ScaleCode.PAUSED: "The policy decides again once the pause ends; `streamops autoscale resume` ends it.",
    ScaleCode.BUDGET: "More once the pools that share its budget need fewer, or with a larger budget.",
}


def least_backlog(config: ScalingConfig, state: ScalingState, demand: Demand, count: int) -> int | None:
    """From how many waiting entries on rule ``backlog`` would ask for more than so many workers, all of them working.

    None where their rate is not known. Peaks that were worked off before excuse a backlog like them for as long as its
    wait is short enough, which is taken into account; a cap, or a trial, is not.
    """
    if not count or state.rate is None:
        return None
    tuning, objective = config.tuning, config.objective.total_seconds()
    speed_of_all = count * state.rate
    much = floor(1e3 * objective * speed_of_all) + 1
    lag = Lag(much, much, much, LagBasis.EXACT, "supposed")
    supposed = replace(demand, lag=lag, probed_empty=False, ordered=count, ready=count)
    view = look(config, replace(state, starting=()), supposed)
    done = much - view.left
    least = [tuning.ahead_share * objective * speed_of_all + min(0.0, done)]
    age = demand.head_age or 0.0
    if age <= tuning.now_share * objective:
        least.append(tuning.now_share * objective * speed_of_all)
    if view.coming <= tuning.use * speed_of_all:
        in_time = tuning.safe_share * objective - view.start_up - age
        drain = max(tuning.drain_share * objective, in_time)
        least += [done + (speed_of_all - view.coming) * drain, count * config.prefetch - demand.pending]
    if age < tuning.safe_share * objective:
        least.append(_excused(state, tuning.safe_share * objective * speed_of_all))
    return max(1, floor(max(least)) + 1)


def _excused(state: ScalingState, late: float) -> float:
    """How many may wait for the sake of earlier peaks; at ``late`` they wait for too long whatever was before."""
    heights = sorted((peak.height for peak in state.peaks), reverse=True)
    return min(late, heights[PEAKS - 1] / ALIKE) if len(heights) >= PEAKS else 0.0


def _more(view: View, count: int) -> tuple[str, ...]:
    """When there would be more workers."""
    config, cap, lanes = view.config, view.state.cap, view.config.lanes
    if count >= config.maximum:
        return (f"More than {workers(config.maximum)} only with a higher maximum.",)
    if lanes is not None and count >= lanes:
        return (f"No more than {workers(lanes)}: there are no more lanes.",)
    if cap is not None:
        left = max(0.0, cap.since + cap.pause - view.demand.at)
        return (f"More are tried again in {seconds(left)}, if work waits then: more did not help before.",)
    if trying(view) is not None:
        return ("No more before it shows whether those ordered last help.",)
    if view.waiting is None and not config.by_arrivals:
        return ("More only with a lag that is known again.",)
    return _from_backlog(view, count), _from_arrivals(view, count)


def _from_backlog(view: View, count: int) -> str:
    least = least_backlog(view.config, view.state, view.demand, count)
    if least is None:
        return ""
    work = least / (count * view.rate)
    return f"More from about {spell(least)} waiting on: {seconds(work)} of work for {workers(count)}."


def _from_arrivals(view: View, count: int) -> str:
    if not view.rate:
        return ""
    most = view.tuning.pressed_use * count * view.rate
    return f"More when over {speed(most)} are expected for {seconds(view.tuning.pressed_for)}."


def _fewer(view: View, count: int) -> str:
    """When there would be fewer."""
    config = view.config
    if view.waiting is None:
        return "Fewer only with a lag that is known again."
    if count <= config.minimum:
        return f"Fewer than {workers(config.minimum)} only with a lower minimum."
    if count == 1:
        return (
            f"None once nothing was waiting, pending or added for {seconds(config.idle_for.total_seconds())}."
        )
    left = _rest(view)
    if left > 0:
        return (
            f"Fewer not within {seconds(left)}: the last change is too fresh, or too little is known since."
        )
    return "Fewer once nothing waits, and what came in of late would not have waited too long for them."


def _rest(view: View) -> float:
    """Seconds in which nothing is let go."""
    tuning, samples, changed = view.tuning, view.state.samples, view.state.changed_at
    cool = 0.0
    if changed is not None:
        cool = tuning.cooldown * 2.0**view.state.damping - (view.demand.at - changed)
    return max(cool, tuning.least_look - (samples[-1].at - samples[0].at))


def _rounded(value: float) -> float | None:
    return round(value, 3) if isfinite(value) else None
