"""Reasons to order workers."""

from itertools import pairwise
from math import ceil
from statistics import median

from streamops.model.scaling import ScaleCode
from streamops.scaling.arrivals import since
from streamops.scaling.view import Verdict, View
from streamops.scaling.wording import handling, seconds, speed, spell, workers

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
