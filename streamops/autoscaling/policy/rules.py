"""The policy: one reading in, one decision out. Pure: no clock, no chance, no input but its arguments.

The rules, in the order in which they are asked; the first that speaks decides:

 1. wake          a pool of none gets workers for any sign of work
 2. warmup        one reading has no rates: hold
 3. stuck         work, workers, and nothing acknowledged: hold
 4. not_starting  workers ordered long ago, and none lives: hold
 5. sleep         no work of any kind for long: to none
 6. no_rate       the rate of a worker was never seen: hold
 7. lag_unknown   up by arrivals or a lower bound of the backlog; else hold, never down
 8. saturated     more workers did not help: back to as many as do, and a try now and then
 9. backlog       entries will wait too long: up, unless peaks like this one were worked off before
10. arrivals      more comes in than the workers can take: up
11. draining      workers start, or a backlog is being worked off: hold
12. idle          fewer workers would have done for what came in of late: down
13. steady        nothing speaks for a change: hold

Then the limits: no more workers than can have work, none beyond what the operator set. Every number stands in
``config.Tuning``, with its unit and its reason.
"""

from collections.abc import Callable
from math import ceil
from typing import Final

from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.state import Cap, ScalingState, begin_trial, learn, recent
from streamops.autoscaling.policy.view import (
    PolicyView,
    handling,
    look,
    seconds,
    speed,
    spell,
    workers,
    worst_wait,
)
from streamops.model.pools import Demand, ScaleCode, ScaleDecision


def decide(config: ScalingConfig, state: ScalingState, demand: Demand) -> tuple[ScalingState, ScaleDecision]:
    """Return what to remember until the next reading, and how many workers a pool should have.

    A reading that is not newer than the last one changes nothing and gives the last decision again.
    """
    if state.last is not None and state.samples and demand.at <= state.samples[-1].at:
        return state, state.last
    view = look(config, learn(state, demand, config.tuning), demand)
    verdicts = (rule(view) for rule in RULES)
    decision = _limited(view, next(one for one in verdicts if one is not None))
    return replace(_remember(view, decision.target), last=decision), decision


def wake(view: PolicyView) -> ScaleDecision | None:
    """Rule 1: work for a pool of none: anything waiting or pending, or anything added; or a lag that is unknown."""
    demand, samples = view.demand, view.state.samples
    if demand.ordered:
        return None
    came = samples[-1].added - samples[-2].added if len(samples) > 1 else 0
    if demand.waiting is None and not view.backlog:
        return ScaleDecision(
            1, ScaleCode.WAKE, f"lag unknown ({demand.lag.reason}), {spell(came)} added: 0 to 1"
        )
    if not (came or view.backlog or demand.pending):
        return ScaleDecision(0, ScaleCode.IDLE, "nothing unread, pending or added: no workers needed")
    target = max(1, min(_needed(view), view.tuning.addition)) if view.rate else 1
    text = (
        f"{spell(view.backlog)} unread, {spell(demand.pending)} pending, {spell(came)} added: 0 to {target}"
    )
    return ScaleDecision(target, ScaleCode.WAKE, text)


def warmup(view: PolicyView) -> ScaleDecision | None:
    """Rule 2: one reading has no rates."""
    if len(view.state.samples) > 1:
        return None
    return _hold(view, ScaleCode.WARMUP, f"first reading; {workers(view.demand.ordered)} until there are two")


def stuck(view: PolicyView) -> ScaleDecision | None:
    """Rule 3: there is work, workers live, and nothing is acknowledged."""
    stalled, demand, limit = view.state.stalled_since, view.demand, view.tuning.stuck_after
    if stalled is None:
        return None
    span = demand.at - stalled
    told = (
        f"{workers(demand.ready)} alive"
        if demand.ready_known
        else f"{workers(demand.ordered)}, number alive unknown"
    )
    said = f"{told}, nothing acknowledged for {seconds(span)}, {spell(demand.pending)} pending"
    if span < limit:
        return _hold(view, ScaleCode.SUSPECT, f"{said}: waiting until {seconds(limit)}")
    cause = (
        "dead handler or poison entry" if demand.ready_known else "no worker, dead handler or poison entry"
    )
    return _hold(view, ScaleCode.STUCK, f"{said}: {cause}; more workers will not help")


def not_starting(view: PolicyView) -> ScaleDecision | None:
    """Rule 4: workers were ordered long ago, and none lives."""
    starting, demand = view.state.starting, view.demand
    if demand.ready or not starting or demand.at - starting[0] <= view.tuning.not_starting * view.start_up:
        return None
    span = seconds(demand.at - starting[0])
    said = (
        f"{workers(demand.ordered)} started, none alive after {span} (startup time {seconds(view.start_up)})"
    )
    return _hold(view, ScaleCode.NOT_STARTING, f"{said}: check why they do not start")


def sleep(view: PolicyView) -> ScaleDecision | None:
    """Rule 5: no work of any kind for long enough, in a pool that may go to zero."""
    arrived, demand = view.state.arrived_at, view.demand
    if view.config.minimum or arrived is None or demand.waiting != 0 or demand.pending:
        return None
    span = demand.at - arrived
    if span < view.config.idle_for.total_seconds():
        return None
    text = f"nothing unread, pending or added for {seconds(span)}: {demand.ordered} to 0"
    return ScaleDecision(0, ScaleCode.IDLE, text)


def no_rate(view: PolicyView) -> ScaleDecision | None:
    """Rule 6: how fast a worker is has not been seen yet."""
    if view.rate:
        return None
    demand = view.demand
    of = spell(demand.ready) if demand.ready_known else f"{spell(demand.ordered)} desired"
    text = f"no worker of {of} was busy yet: rate per worker unknown, lag {spell(view.backlog)}"
    return _hold(view, ScaleCode.NO_RATE, text)


def lag_unknown(view: PolicyView) -> ScaleDecision | None:
    """Rule 7: arrivals are counted, and a backlog may be known in part; what is left over is not: never down."""
    if view.demand.waiting is not None:
        return None
    more = (backlog(view) or arrivals(view)) if view.config.by_arrivals else None
    reason = view.demand.lag.reason or "no reason given"
    text = (
        f"lag unknown ({reason}): holding {workers(view.demand.ordered)}; {speed(view.arrivals)} added"
        f", {handling(view.demand.ordered)} {speed(view.capacity)}"
    )
    return more or _hold(view, ScaleCode.LAG_UNKNOWN, text)


def saturated(view: PolicyView) -> ScaleDecision | None:
    """Rule 8: back to the knee, hold there while work waits, and try again now and then."""
    cap, ordered = view.state.cap, view.demand.ordered
    if cap is None or view.state.idle_since is not None:
        return None
    said = (
        f"{workers(cap.workers)} reach {speed(cap.handled)}, and more workers added only"
        f" {max(0.0, cap.gain):.0%} of their share: the bottleneck is downstream"
    )
    if view.state.trial is not None:
        return _hold(view, ScaleCode.SATURATED, f"{said}; trying {ordered}")
    if ordered < cap.workers:
        return _up_to(view, cap, said)
    if ordered > cap.workers:
        return ScaleDecision(cap.workers, ScaleCode.SATURATED, f"{said}: back to {cap.workers}")
    wait = cap.since + cap.pause - view.demand.at
    if wait > 0 or view.demand.ready < ordered:
        return _hold(view, ScaleCode.SATURATED, f"{said}; next try in {seconds(max(0.0, wait))}")
    target = max(cap.workers + 1, ceil(view.tuning.retry_step * cap.workers))
    return ScaleDecision(target, ScaleCode.SATURATED, f"{said}; trying {target} after {seconds(cap.pause)}")


def _up_to(view: PolicyView, cap: Cap, said: str) -> ScaleDecision | None:
    """As many as help may be ordered like any others."""
    more = backlog(view) or arrivals(view)
    if more is None or more.target <= cap.workers:
        return more
    return ScaleDecision(cap.workers, ScaleCode.SATURATED, f"{more.text}; {said}: {cap.workers}")


def backlog(view: PolicyView) -> ScaleDecision | None:
    """Rule 9: entries will wait too long. No test of a trend: bursts cannot wait for one."""
    tuning, limit = view.tuning, view.objective
    if view.ahead <= tuning.ahead_share * limit or view.wait <= tuning.now_share * limit:
        return None
    said = f"{spell(view.backlog)} unread, {seconds(view.ahead)} of work for {workers(view.demand.ordered)}"
    return _excused(view) or _up(view, ScaleCode.BACKLOG, f"{said} (limit {seconds(limit)})")


def _excused(view: PolicyView) -> ScaleDecision | None:
    """The veto: peaks as high as this one were worked off before, and these workers do it in time."""
    tuning, limit = view.tuning, view.tuning.safe_share * view.objective
    like = sum(peak.height >= tuning.alike * view.backlog for peak in view.state.peaks)
    if like < tuning.excusing or view.wait >= limit or view.demand.ready < view.demand.ordered:
        return None
    text = (
        f"{spell(view.backlog)} waiting, {seconds(view.wait)} of wait (limit {seconds(limit)});"
        f" {like} peaks like this drained before"
    )
    return _hold(view, ScaleCode.SAWTOOTH, text)


def arrivals(view: PolicyView) -> ScaleDecision | None:
    """Rule 10: more comes in than the workers can take."""
    since = view.state.pressed_since
    if since is None or view.demand.at - since < view.tuning.pressed_for:
        return None
    text = (
        f"{speed(view.arrivals)} added, {handling(view.demand.ordered)} {speed(view.capacity)},"
        f" for {seconds(view.demand.at - since)}"
    )
    return _up(view, ScaleCode.ARRIVALS, text)


def draining(view: PolicyView) -> ScaleDecision | None:
    """Rule 11: the backlog is being worked off, or the workers for it are starting; one long overdue is not waited for."""
    demand, starting = view.demand, view.state.starting
    if starting and demand.at - starting[-1] <= view.tuning.not_starting * view.start_up:
        text = f"{demand.ordered - demand.ready} of {workers(demand.ordered)} starting, {spell(view.backlog)} unread"
        return _hold(view, ScaleCode.STARTING, text)
    if view.state.idle_since is not None:
        return None
    text = (
        f"{spell(view.backlog)} unread, done in {seconds(view.ahead)} by {workers(demand.ordered)}"
        f" (limit {seconds(view.objective)})"
    )
    return _hold(view, ScaleCode.DRAINING, text)


def idle(view: PolicyView) -> ScaleDecision | None:
    """Rule 12: fewer workers, no fewer than half, would have done, as a replay of what came in of late shows."""
    state, tuning, ordered, now = view.state, view.tuning, view.demand.ordered, view.demand.at
    if ordered <= view.config.minimum or (
        state.changed_at is not None and now - state.changed_at < tuning.cooldown
    ):
        return None
    recurring = len(state.peaks) >= tuning.recurring
    samples = recent(state.samples, now - (tuning.memory if recurring else tuning.look_back))
    span, limit = now - samples[0].at, tuning.safe_share * view.objective
    if span < tuning.least_look:
        return None
    enough = ceil(view.arrivals / (tuning.use * view.rate))
    for fewer in range(max(view.config.minimum, 1, ceil(ordered / 2), enough), ordered):
        worst = worst_wait(samples, view.rate, fewer)
        if worst < limit:
            text = (
                f"last {seconds(span)} simulated with {workers(fewer)}: at most {seconds(worst)} of wait"
                f" (limit {seconds(limit)}), {speed(view.arrivals)} added: {ordered} to {fewer}"
            )
            return ScaleDecision(fewer, ScaleCode.SAWTOOTH if recurring else ScaleCode.IDLE, text)
    return None


def steady(view: PolicyView) -> ScaleDecision:
    """Rule 13: nothing speaks for a change."""
    text = (
        f"{speed(view.arrivals)} added, {handling(view.demand.ordered)} {speed(view.capacity)},"
        f" {spell(view.backlog)} unread"
    )
    return _hold(view, ScaleCode.STEADY, text)


RULES: Final[tuple[Callable[[PolicyView], ScaleDecision | None], ...]] = (
    wake,
    warmup,
    stuck,
    not_starting,
    sleep,
    no_rate,
    lag_unknown,
    saturated,
    backlog,
    arrivals,
    draining,
    idle,
    steady,
)


def _hold(view: PolicyView, code: ScaleCode, text: str) -> ScaleDecision:
    return ScaleDecision(view.demand.ordered, code, text)


def _up(view: PolicyView, code: ScaleCode, text: str) -> ScaleDecision | None:
    """As many as arrivals and the backlog need, no more at once than the steps allow."""
    ordered, tuning = view.demand.ordered, view.tuning
    target = min(_needed(view), max(tuning.factor * ordered, ordered + tuning.addition))
    return ScaleDecision(target, code, f"{text}: {ordered} to {target}") if target > ordered else None


def _needed(view: PolicyView) -> int:
    """Workers for what comes in, kept a little idle, or for it and the backlog within the objective."""
    for_arrivals = view.arrivals / (view.tuning.use * view.rate)
    for_backlog = view.arrivals / view.rate + view.backlog_at_start_up / (view.rate * view.objective)
    return ceil(max(for_arrivals, for_backlog))


def _limited(view: PolicyView, verdict: ScaleDecision) -> ScaleDecision:
    """The verdict within what is of use, never below what there is, and within the limits, which have the last word."""
    config, demand, target, text = view.config, view.demand, verdict.target, verdict.text
    if demand.waiting is not None and target > (useful := max(_useful_workers(view), demand.ordered)):
        target = useful
        text = f"{text}; no more than {spell(target)} would have work"
    bounded, held = min(config.maximum, max(config.minimum, target)), target == demand.ordered
    if bounded != target:
        text = f"{text}; limited to {bounded} ({config.minimum} to {config.maximum})"
    if demand.phantom:
        text = (
            f"{text} (the server reports a lag of {spell(demand.lag.entries or 0)}, but no entry is unread)"
        )
    return ScaleDecision(bounded, ScaleCode.LIMIT if held and bounded != target else verdict.code, text)


def _useful_workers(view: PolicyView) -> int:
    """How many workers can have work at all: portions of what is there and will be."""
    config, demand = view.config, view.demand
    enough = ceil(view.arrivals / (view.tuning.use * view.rate)) if view.rate else 1
    return max(1, enough, ceil((view.backlog + demand.pending) / config.prefetch))


def _remember(view: PolicyView, target: int) -> ScalingState:
    state, demand, tuning = view.state, view.demand, view.tuning
    if target == demand.ordered:
        return state
    if target < demand.ordered:
        return replace(state, changed_at=demand.at, trial=None)
    until = demand.at + tuning.not_starting * view.start_up + tuning.patience
    return replace(begin_trial(state, demand.ready, target, until), changed_at=demand.at)
