"""What the policy remembers of a pool, and what each reading teaches it. Times are seconds by the server's clock."""

from math import ceil, exp, log, sqrt
from statistics import stdev

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.policy.config import Tuning
from streamops.model.pools import Demand, ScaleDecision


class Sample(Struct, frozen=True, gc=False):
    """One reading, as far as later ones need it.

    Attributes:
        at: When.
        added: Entries ever added.
        acked: Entries ever acknowledged.
        waiting: Entries not delivered; None if unknown.
        ready: Workers that worked.
        level: Mean of arrivals a second at the time.
        arrivals: Arrivals a second since the reading before.
        handled: Entries acknowledged a second since the reading before.
    """

    at: float
    added: int
    acked: int
    waiting: int | None
    ready: int
    level: float
    arrivals: float
    handled: float


class Peak(Struct, frozen=True, gc=False):
    """A backlog that rose and was worked off.

    Attributes:
        at: When it was gone.
        height: The most entries that waited.
    """

    at: float
    height: int


class Trial(Struct, frozen=True):
    """Whether workers that were ordered made a difference.

    Attributes:
        before: Entries handled a second before.
        rate: What one worker handled a second before.
        workers: How many worked before.
        target: How many were asked for.
        until: When it is given up, should they not all come or no queue stand.
        handled: What was handled a second in the readings since, while all worked and a queue stood.
    """

    before: float
    rate: float
    workers: int
    target: int
    until: float
    handled: tuple[float, ...] = ()

    @property
    def expected(self) -> float:
        """Entries a second that those who were added should handle."""
        return (self.target - self.workers) * self.rate

    @property
    def after(self) -> float:
        """The mean of what has been handled a second since; 0 where no reading told."""
        return sum(self.handled) / len(self.handled) if self.handled else 0.0

    @property
    def gain(self) -> float:
        """The share of added capacity that has shown so far."""
        return (self.after - self.before) / self.expected


class Cap(Struct, frozen=True, gc=False):
    """More workers than this do not help.

    Attributes:
        workers: That number.
        handled: Entries a second that they handle.
        gain: The share of added capacity that showed when it was found.
        since: When it was found.
        pause: How long until it is tried again.
    """

    workers: int
    handled: float
    gain: float
    since: float
    pause: float


class ScalingState(Struct, frozen=True, kw_only=True):
    """The memory of ``decide``; a new one has none.

    Attributes:
        samples: The readings of the last minutes, oldest first.
        rates: The last samples of what one worker handles a second.
        starting: When each worker that is not ready was ordered, oldest first.
        start_up: How long workers take to start, once learned.
        stalled_since: Since when nothing has been acknowledged though there is work.
        pressed_since: Since when arrivals have been above capacity.
        idle_since: Since when no backlog has been known.
        arrived_at: When something was last added.
        changed_at: When a change was last decided.
        current_peak: The most entries of the backlog that is there; 0 for none.
        peaks: Backlogs that were worked off.
        trial: A scale-up whose effect is not known yet.
        cap: What saturation has taught.
        last: The last decision.
    """

    samples: tuple[Sample, ...] = ()
    rates: tuple[float, ...] = ()
    starting: tuple[float, ...] = ()
    start_up: float | None = None
    stalled_since: float | None = None
    pressed_since: float | None = None
    idle_since: float | None = None
    arrived_at: float | None = None
    changed_at: float | None = None
    current_peak: int = 0
    peaks: tuple[Peak, ...] = ()
    trial: Trial | None = None
    cap: Cap | None = None
    last: ScaleDecision | None = None

    @property
    def rate(self) -> float | None:
        """What one worker handles a second; None if that has not been seen."""
        return sorted(self.rates)[len(self.rates) // 2] if self.rates else None


def learn(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """The state with all that a reading teaches. A stream that was created again begins from nothing."""
    if state.samples and demand.added < state.samples[-1].added:
        state = ScalingState()
    for lesson in (_starts, _record, _stall, _rate, _peaks, _trial, _pressure):
        state = lesson(state, demand, tuning)
    return state


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


def _starts(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """Which workers came, which were lost, and which still start.

    Workers come in the order in which they were ordered; those ordered last are given up first. One that is lost and
    replaced starts now.
    """
    came = max(0, demand.ready - state.samples[-1].ready) if state.samples else 0
    start_up = state.start_up
    for ordered_at in state.starting[:came]:
        took = demand.at - ordered_at
        start_up = took if start_up is None else start_up + tuning.start_weight * (took - start_up)
    missing = max(0, demand.ordered - demand.ready)
    still = state.starting[came:][:missing]
    return replace(state, starting=(*still, *[demand.at] * (missing - len(still))), start_up=start_up)


def _record(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """This reading at the end of the record. Arrivals have an exponential mean, which begins with the first interval."""
    before = state.samples[-1] if state.samples else None
    level = arrivals = handled = 0.0
    if before is not None:
        span = demand.at - before.at
        arrivals = max(0, demand.added - before.added) / span
        handled = max(0, demand.acked - before.acked) / span
        keep = exp(-log(2) * span / tuning.half_life) if len(state.samples) > 1 else 0.0
        level = keep * before.level + (1 - keep) * arrivals
    kept = recent(state.samples, demand.at - tuning.memory)
    sample = Sample(
        demand.at, demand.added, demand.acked, demand.waiting, demand.ready, level, arrivals, handled
    )
    arrived = before is None or demand.added > before.added
    return replace(state, samples=(*kept, sample), arrived_at=demand.at if arrived else state.arrived_at)


def recent(samples: tuple[Sample, ...], since: float) -> tuple[Sample, ...]:
    """The readings from a moment on."""
    first = len(samples)
    while first and samples[first - 1].at >= since:
        first -= 1
    return samples[first:]


def _stall(state: ScalingState, demand: Demand, _: Tuning) -> ScalingState:
    """Since when nothing has been acknowledged, though there is work and workers live."""
    if len(state.samples) < 2:  # noqa: PLR2004 - two readings make an interval
        return state
    before = state.samples[-2]
    work = demand.pending > 0 or demand.backlog > 0
    still = work and demand.ready > 0 and before.ready > 0 and demand.acked <= before.acked
    return replace(state, stalled_since=_since(state.stalled_since, before.at, holds=still))


def _since(known: float | None, now: float, *, holds: bool) -> float | None:
    if not holds:
        return None
    return now if known is None else known


def _rate(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """One more sample of what one worker handles, if this interval gives one.

    Not while nothing is acknowledged, the pool is saturated, or a scale-up is on trial: then slots wait for
    something else than work. Never from throughput over workers alone, which falls when work does.
    """
    if len(state.samples) < 2 or state.stalled_since is not None or state.cap or state.trial:  # noqa: PLR2004
        return state
    before, now = state.samples[-2:]
    if now.acked - before.acked < tuning.rate_entries or now.ready < 1 or now.ready != before.ready:
        return state
    queued = before.waiting and now.waiting
    busy = (1.0 if queued else 0.0) if demand.busy is None else min(1.0, demand.busy)
    if busy <= tuning.rate_busy:
        return state
    return replace(state, rates=(*state.rates, now.handled / (now.ready * busy))[-tuning.rate_samples :])


def _peaks(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """Since when there is no backlog, the height of the one that is there, and those that were worked off."""
    count, rate = demand.waiting, state.rate
    idle = count is not None and count <= tuning.idle * demand.ready * (rate or 0.0)
    state = replace(state, idle_since=_since(state.idle_since, demand.at, holds=idle))
    if count is None or rate is None:
        return state
    if not idle:
        return replace(state, current_peak=max(state.current_peak, count))
    peaks = tuple(peak for peak in state.peaks if peak.at > demand.at - tuning.memory)
    return replace(
        state,
        current_peak=0,
        peaks=(*peaks, Peak(demand.at, state.current_peak)) if state.current_peak else peaks,
    )


def _pressure(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """Since when arrivals have been above capacity."""
    rate, level = state.rate, state.samples[-1].level
    pressed = rate is not None and level > tuning.pressed_use * demand.ordered * rate
    return replace(state, pressed_since=_since(state.pressed_since, demand.at, holds=pressed))


def _trial(state: ScalingState, demand: Demand, tuning: Tuning) -> ScalingState:
    """The trial one reading further, over, or judged."""
    if state.cap and state.idle_since is not None and demand.at - state.idle_since >= tuning.clear:
        state = replace(state, cap=None)
    if state.trial is None:
        return state
    if state.idle_since is not None or demand.ordered < state.trial.target:
        return replace(state, trial=None)
    if demand.at > state.trial.until:
        return replace(state, trial=None, cap=state.cap and replace(state.cap, since=demand.at))
    return _judged(state, _continued(state.trial, state.samples), demand.at, tuning)


def _continued(trial: Trial, samples: tuple[Sample, ...]) -> Trial:
    """One reading more, if the same workers had a standing queue all through it."""
    before, now = samples[-2:]
    if now.ready < trial.target or not now.handled:
        return replace(trial, handled=())
    standing = now.ready == before.ready and before.waiting and now.waiting
    return replace(trial, handled=(*trial.handled, now.handled)) if standing else trial


def _judged(state: ScalingState, trial: Trial, at: float, tuning: Tuning) -> ScalingState:
    """The state after a trial: on, well ended, or with a cap; a retry in vain leaves a cap if it was."""
    count, cap = len(trial.handled), state.cap
    if count < tuning.trial_readings:
        return replace(state, trial=trial)
    if trial.gain >= tuning.gain:
        # That up to the cap more help is what it says.
        return replace(state, trial=None, cap=cap if cap and trial.target <= cap.workers else None)
    error = stdev(trial.handled) / sqrt(count) / trial.expected
    if trial.gain + tuning.trial_error * error >= tuning.gain and count < tuning.trial_doubtful:
        return replace(state, trial=trial)
    if cap is None:
        workers = max(1, ceil(tuning.knee * trial.after / trial.rate))
        cap = Cap(workers, trial.after, trial.gain, at, tuning.retry)
    else:
        cap = replace(cap, gain=trial.gain, since=at, pause=min(tuning.retry_most, 2 * cap.pause))
    return replace(state, trial=None, cap=cap)
