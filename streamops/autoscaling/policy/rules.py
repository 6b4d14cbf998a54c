"""One rule a function. Law: a view in, a verdict or none out; the first that speaks decides."""

from itertools import pairwise
from math import ceil
from statistics import median

from streamops.autoscaling.policy.readings import recent, since, worst_wait
from streamops.autoscaling.policy.state import Cap
from streamops.autoscaling.policy.view import Verdict, View, handling, seconds, speed, spell, workers
from streamops.model.scaling import ScaleCode


def warmup(view: View) -> Verdict | None:
    """Rule 1: one reading has no rates."""
    if len(view.state.samples) > 1:
        return None
    return _hold(view, ScaleCode.WARMUP, f"first reading; {workers(view.demand.ordered)} until there are two")


def stuck(view: View) -> Verdict | None:
    """Rule 2: there is work, workers live, and nothing is acknowledged."""
    stalled, demand = view.state.stalled_since, view.demand
    if stalled is None:
        return None
    span = demand.at - stalled
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


SIGNIFICANCE = 2.5
STEPS = 8
"""Steps of a lag that a trend needs at least."""
PEAKS = 3
"""Earlier peaks that excuse another one."""
ALIKE = 0.9
"""Of this one's height, that an earlier one must have had."""


def arrivals(view: View) -> Verdict | None:
    """Rule 6: more comes in than the workers can take. A burst that is over is still in the mean, but comes no more."""
    since_when = view.state.pressed_since
    if since_when is None or view.demand.at - since_when < view.tuning.pressed_for:
        return None
    if _came(view) < view.tuning.came * view.capacity:
        return None
    text = (
        f"{speed(view.coming)} expected, {handling(view.demand.ordered)} {speed(view.capacity)},"
        f" for {seconds(view.demand.at - since_when)}"
    )
    return _up(view, ScaleCode.ARRIVALS, text)


def unseen(view: View) -> Verdict | None:
    """Rule 4: arrivals alone, while the lag is unknown, or a backlog that is at least so much."""
    if view.waiting is not None or not view.config.by_arrivals:
        return None
    return backlog(view) or arrivals(view)


def backlog(view: View) -> Verdict | None:
    """Rule 6: entries will wait too long. No test of a trend: bursts cannot wait for one."""
    tuning, limit = view.tuning, view.objective
    if view.ahead <= tuning.ahead_share * limit or view.wait <= tuning.now_share * limit:
        return None
    excused = _excused(view)
    if excused:
        return excused
    text = (
        f"{spell(view.backlog)} waiting, {seconds(view.ahead)} of wait ahead of {workers(view.demand.ordered)}"
        f" (limit {seconds(limit)})"
    )
    return _up(view, ScaleCode.BACKLOG, text)


def trend(view: View) -> Verdict | None:
    """Rule 6: the lag rises too steadily for chance and will be too long.

    The test is of the steps, as for ``lag_growing``: a lag adds up noise. What it rises by is ordered, whatever the
    rate of a worker is thought to be: plainly it is not enough. Not while it is open whether those ordered last help.
    """
    rise = None if view.state.trial else _rise(view)
    if rise is None or rise <= 0:
        return None
    projected = (view.backlog + rise * view.tuning.horizon) / view.capacity
    if projected <= view.tuning.ahead_share * view.objective:
        return None
    text = (
        f"lag rises by {speed(rise)} steadily, {spell(view.backlog)} waiting:"
        f" {seconds(projected)} of wait in {seconds(view.tuning.horizon)} (limit {seconds(view.objective)})"
    )
    return _excused(view) or _up(view, ScaleCode.TREND, text, view.demand.ordered + ceil(rise / view.rate))


def _rise(view: View) -> float | None:
    """Entries a second, by the median of slopes between all pairs; none where the lag does not rise for sure."""
    points = _standing(view)
    if len(points) <= STEPS:
        return None
    steps = [(b - a) / (t - s) for (s, a), (t, b) in pairwise(points)]
    mean = sum(steps) / len(steps)
    variance = sum((step - mean) ** 2 for step in steps) / (len(steps) - 1)
    if mean <= 0 or mean**2 * len(steps) <= SIGNIFICANCE**2 * variance:
        return None
    return median((b - a) / (t - s) for place, (s, a) in enumerate(points) for t, b in points[place + 1 :])


def _standing(view: View) -> list[tuple[float, int]]:
    """The backlog over the horizon, where it was known and never gone."""
    samples = since(view.state.samples, view.demand.at - view.tuning.horizon)
    points = [(sample.at, sample.waiting) for sample in samples if sample.waiting]
    return points if len(points) == len(samples) else []


def _excused(view: View) -> Verdict | None:
    """The veto: peaks as high as this one were worked off before, and these workers do it in time."""
    limit = view.tuning.safe_share * view.objective
    like = [peak for peak in view.state.peaks if peak.height >= ALIKE * view.backlog]
    if len(like) < PEAKS or view.wait >= limit or view.demand.ready < view.demand.ordered:
        return None
    text = (
        f"{spell(view.backlog)} waiting, {seconds(view.wait)} of wait (limit {seconds(limit)});"
        f" {len(like)} peaks like this were worked off before"
    )
    return Verdict(view.demand.ordered, ScaleCode.SAWTOOTH, text)


def _up(view: View, code: ScaleCode, text: str, least: int = 0) -> Verdict | None:
    """As many as forecast arrivals and the backlog need, no more at once than the steps allow."""
    ordered, tuning = view.demand.ordered, view.tuning
    wanted = max(least, needed(view))
    if wanted <= ordered:
        return None
    target = min(wanted, max(tuning.factor * ordered, ordered + tuning.addition))
    return Verdict(target, code, f"{text}: {ordered} to {target}")


def needed(view: View) -> int:
    """Workers for what comes in, kept a little idle, or for it and the backlog within the time to drain."""
    for_arrivals = view.coming / (view.tuning.use * view.rate)
    for_backlog = view.coming / view.rate + view.left / (view.rate * _drain(view))
    return ceil(max(for_arrivals, for_backlog))


def _drain(view: View) -> float:
    """Until the oldest entry is late, less a margin and the start-up; no shorter than is worth the cost."""
    age = view.demand.head_age or 0.0
    in_time = view.tuning.safe_share * view.objective - view.start_up - age
    return max(view.tuning.drain_share * view.objective, in_time)


def _came(view: View) -> float:
    """Entries a second that did come while they were expected."""
    samples = since(view.state.samples, view.demand.at - view.tuning.pressed_for)
    span = samples[-1].at - samples[0].at
    return (samples[-1].added - samples[0].added) / span if span else 0.0


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
