"""What a reading teaches. Law: each function takes a state and a reading and gives the state that knows more."""

from math import ceil, exp, log, sqrt
from statistics import stdev

from msgspec.structs import replace

from streamops.autoscaling.policy.config import Tuning
from streamops.autoscaling.policy.readings import at_least, waiting
from streamops.autoscaling.policy.state import Cap, Peak, Sample, ScalingState, Trial
from streamops.model.scaling import Demand


def recreated(state: ScalingState, demand: Demand) -> bool:
    """Whether the stream has begun anew: it never had more entries than it has had now."""
    return bool(state.samples) and demand.added < state.samples[-1].added


def record(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """The state with this reading at the end of its record."""
    before = state.samples[-1] if state.samples else None
    sample = _sample(before, demand, tuning, first=len(state.samples) == 1)
    arrived = before is None or demand.added > before.added
    return replace(
        state,
        samples=(*_kept(state.samples, demand.at - tuning.memory), sample),
        arrived_at=demand.at if arrived else state.arrived_at,
    )


def _kept(samples: tuple[Sample, ...], since: float) -> tuple[Sample, ...]:
    first = 0
    while first < len(samples) and samples[first].at < since:
        first += 1
    return samples[first:]


def _sample(before: Sample | None, demand: Demand, tuning: Tuning, *, first: bool) -> Sample:
    arrivals, handled = _speeds(before, demand)
    return Sample(
        demand.at,
        demand.added,
        demand.acked,
        waiting(demand),
        demand.ready,
        demand.ordered,
        _level(before, demand.at, arrivals, tuning.half_life, first=first),
        arrivals,
        handled,
    )


def _speeds(before: Sample | None, demand: Demand) -> tuple[float, float]:
    if before is None:
        return 0.0, 0.0
    span = demand.at - before.at
    return max(0, demand.added - before.added) / span, max(0, demand.acked - before.acked) / span


def _level(before: Sample | None, at: float, arrivals: float, half_life: float, *, first: bool) -> float:
    """The exponential mean; the first interval is taken as it is."""
    if before is None or first:
        return arrivals
    keep = exp(-log(2) * (at - before.at) / half_life)
    return keep * before.level + (1 - keep) * arrivals


def learn_stall(state: ScalingState, demand: Demand) -> ScalingState:
    """The state that knows since when nothing has been acknowledged, though there is work and workers live."""
    if len(state.samples) < 2:  # noqa: PLR2004 - two readings make an interval
        return state
    before = state.samples[-2]
    work = demand.pending > 0 or at_least(demand) > 0
    alive = demand.ready > 0 and before.ready > 0
    still = work and alive and demand.acked <= before.acked
    since = before.at if state.stalled_since is None else state.stalled_since
    return replace(state, stalled_since=since if still else None)


def learn_calm(state: ScalingState, demand: Demand, least: float) -> ScalingState:
    """The state that knows since when no more than ``least`` entries have waited."""
    count = waiting(demand)
    calm = count is not None and count <= least
    since = demand.at if state.calm_since is None else state.calm_since
    return replace(state, calm_since=since if calm else None)


WEIGHT = 0.5
"""Of the newest start in the mean."""


def learn_starts(state: ScalingState, demand: Demand) -> ScalingState:
    """The state that knows which workers came, which were lost, and which still start.

    Workers come in the order in which they were ordered. One that is lost and replaced starts now.
    """
    came = max(0, demand.ready - state.samples[-1].ready) if state.samples else 0
    arrived, still = state.starting[:came], state.starting[came:]
    start_up = state.start_up
    for ordered_at in arrived:
        took = demand.at - ordered_at
        start_up = took if start_up is None else (1 - WEIGHT) * start_up + WEIGHT * took
    return replace(state, starting=_matched(still, demand), start_up=start_up)


def _matched(starting: tuple[float, ...], demand: Demand) -> tuple[float, ...]:
    """As many as are ordered and not ready; those ordered last are given up first."""
    missing = max(0, demand.ordered - demand.ready)
    return (*starting[:missing], *([demand.at] * (missing - len(starting))))


ENOUGH = 10
"""Entries that an interval must have handled to say anything."""
BUSY = 0.02
"""Workers less busy than this say nothing about their rate."""


def learn_rate(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """The state with one more sample, where this interval gives one.

    Not while nothing is acknowledged, the pool is saturated, or a scale-up is on trial: then slots wait for
    something else than work. Never from throughput over workers alone, which falls when work does.
    """
    if len(state.samples) < 2 or state.stalled_since is not None or state.cap or state.trial:  # noqa: PLR2004
        return state
    sample = _sampled(state.samples[-2], state.samples[-1], demand)
    if sample is None:
        return state
    return replace(state, rates=(*state.rates, sample)[-tuning.rates :])


def _sampled(before: Sample, now: Sample, demand: Demand) -> float | None:
    if now.acked - before.acked < ENOUGH or now.ready < 1 or now.ready != before.ready:
        return None
    if demand.busy is None:
        return now.handled / now.ready if before.waiting and now.waiting else None
    return now.handled / (now.ready * min(1.0, demand.busy)) if demand.busy > BUSY else None


def learn_peaks(state: ScalingState, demand: Demand, rate: float | None, tuning: Tuning) -> ScalingState:
    """The state that knows the backlog that is there and those that were worked off."""
    count = waiting(demand)
    if count is None or rate is None:
        return state
    wait = count / (max(1, demand.ready) * rate)
    if wait > tuning.calm:
        return replace(state, climb=_higher(state.climb, Peak(demand.at, count, wait, demand.ordered)))
    peaks = tuple(peak for peak in state.peaks if peak.at > demand.at - tuning.memory)
    return replace(state, climb=None, peaks=peaks if state.climb is None else (*peaks, state.climb))


def _higher(climb: Peak | None, now: Peak) -> Peak:
    if climb is None:
        return now
    return Peak(
        now.at, max(climb.height, now.height), max(climb.wait, now.wait), max(climb.workers, now.workers)
    )


def learn_pressure(
    state: ScalingState, demand: Demand, forecast: float, rate: float | None, tuning: Tuning
) -> ScalingState:
    """The state that knows since when forecast arrivals have been above capacity."""
    pressed = rate is not None and forecast > tuning.pressed_use * demand.ordered * rate
    since = demand.at if state.pressed_since is None else state.pressed_since
    return replace(state, pressed_since=since if pressed else None)


READINGS = 3
"""With a standing queue, before a trial is judged."""
DOUBTFUL = 8
"""So many, where what is handled differs too much from one reading to the next to tell."""
DOUBT = 2.0
"""Standard errors that a gain must be short by, to be called too small."""
KNEE = 1.02
"""A little more than what is handled, so that the cap is not what limits."""


def learn_trial(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """The state whose trial is one reading further, over, or judged."""
    if state.cap and state.calm_since is not None and demand.at - state.calm_since >= tuning.clear:
        state = replace(state, cap=None)
    if state.trial is None:
        return state
    if state.calm_since is not None or demand.ordered < state.trial.target:
        return replace(state, trial=None)
    if demand.at > state.trial.until:
        return replace(state, trial=None, cap=state.cap and replace(state.cap, since=demand.at))
    return _judged(replace(state, trial=_continued(state.trial, state.samples)), demand, tuning)


def _continued(trial: Trial, samples: tuple[Sample, ...]) -> Trial:
    """One reading more, where the same workers had a standing queue all through it."""
    before, now = samples[-2], samples[-1]
    same = trial.target <= now.ready == before.ready
    standing = bool(before.waiting) and bool(now.waiting)
    if now.ready < trial.target or not now.handled:
        return replace(trial, handled=())
    return replace(trial, handled=(*trial.handled, now.handled)) if same and standing else trial


def _judged(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    trial = state.trial
    if trial is None or len(trial.handled) < READINGS:
        return state
    if trial.gain >= tuning.gain:
        # That up to the cap more help is what it says.
        below = state.cap is not None and trial.target <= state.cap.workers
        return replace(state, trial=None, cap=state.cap if below else None)
    error = stdev(trial.handled) / sqrt(len(trial.handled)) / trial.expected
    if trial.gain + DOUBT * error >= tuning.gain and len(trial.handled) < DOUBTFUL:
        return state
    pause = tuning.retry if state.cap is None else min(tuning.retry_most, 2 * state.cap.pause)
    return replace(state, trial=None, cap=_cap(state.cap, trial, demand.at, pause))


def _cap(known: Cap | None, trial: Trial, at: float, pause: float) -> Cap:
    """At the knee; a retry that was in vain leaves it where it was."""
    if known is not None:
        return replace(known, gain=trial.gain, since=at, pause=pause)
    return Cap(max(1, ceil(KNEE * trial.after / trial.rate)), trial.after, trial.gain, at, pause)


def begin_trial(state: ScalingState, ready: int, target: int, until: float) -> ScalingState:
    """The state with a scale-up on trial; one that is under way is only widened."""
    rate = state.rate
    if rate is None or target <= ready or ready < 1:
        return state
    if state.trial is not None:
        return replace(state, trial=replace(state.trial, target=target, until=until, handled=()))
    # What is handled above what so many can do was chance, or done by workers that have just gone.
    before = min(ready * rate, max(sample.handled for sample in state.samples[-2:]))
    return replace(state, trial=Trial(before, rate, ready, target, until)) if before else state
