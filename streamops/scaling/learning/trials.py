"""Whether more workers help: a scale-up is a trial, and a bad one makes a cap."""

from math import ceil, sqrt
from statistics import stdev

from msgspec.structs import replace

from streamops.model.scaling import Demand
from streamops.scaling.state import Cap, Sample, ScalingState, Trial
from streamops.scaling.tuning import Tuning

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
