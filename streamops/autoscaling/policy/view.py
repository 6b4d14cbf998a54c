"""All that the rules look at, computed once, and how their sentences say numbers."""

from itertools import pairwise
from math import inf, isinf

from msgspec import Struct

from streamops.autoscaling.policy.config import ScalingConfig, Tuning
from streamops.autoscaling.policy.state import Sample, ScalingState
from streamops.model.pools import Demand


class PolicyView(Struct, frozen=True, kw_only=True):
    """A reading beside what is remembered. Times are seconds.

    Attributes:
        config: What the operator set.
        state: What is remembered, this reading included.
        demand: The reading.
        backlog: Entries that wait for certain.
        rate: What one worker handles a second; 0 where not known.
        arrivals: Mean of arrivals a second.
        start_up: How long workers take to start.
        span: Until workers ordered now are there and read of.
        wait: What the entry that came last waits, by the workers that are ready.
        backlog_at_start_up: Entries that wait when workers ordered now are there.
        ahead: The longer of what the entry that came last waits, by all workers that are ordered, and what one waits
            that comes when workers ordered now are there.
    """

    config: ScalingConfig
    state: ScalingState
    demand: Demand
    backlog: int
    rate: float
    arrivals: float
    start_up: float
    span: float
    wait: float
    backlog_at_start_up: float
    ahead: float

    @property
    def tuning(self) -> Tuning:
        """The policy's own numbers."""
        return self.config.tuning

    @property
    def objective(self) -> float:
        """Target lag age: the longest that an entry should wait."""
        return self.config.objective.total_seconds()

    @property
    def capacity(self) -> float:
        """What all ordered workers handle a second."""
        return self.demand.ordered * self.rate


def look(config: ScalingConfig, state: ScalingState, demand: Demand) -> PolicyView:
    """The view of a reading that the state has learned from."""
    rate, samples = state.rate or 0.0, state.samples
    start_up = config.start_up.total_seconds() if state.start_up is None else state.start_up
    span = start_up + (samples[-1].at - samples[-2].at if len(samples) > 1 else 0.0)
    arrivals, backlog, ready = samples[-1].level, demand.backlog, demand.ready
    births = sorted(max(0.0, at + start_up - demand.at) for at in state.starting)
    left = _backlog_after(backlog, arrivals, rate=rate, ready=ready, births=births, span=span)
    served = _time_to_serve(backlog, rate, ready, births)
    return PolicyView(
        config=config,
        state=state,
        demand=demand,
        backlog=backlog,
        rate=rate,
        arrivals=arrivals,
        start_up=start_up,
        span=span,
        wait=max(_over(backlog, ready * rate), demand.head_age or 0.0),
        backlog_at_start_up=left,
        ahead=max(served, _over(left, demand.ordered * rate)),
    )


def _over(count: float, speed: float) -> float:
    return 0.0 if not count else count / speed if speed else inf


def _backlog_after(
    backlog: float, arrivals: float, *, rate: float, ready: int, births: list[float], span: float
) -> float:
    """The backlog after a time, as workers that are ordered become ready."""
    now = 0.0
    for birth in [*births, span]:
        until = min(span, birth)
        backlog = max(0.0, backlog + (arrivals - ready * rate) * (until - now))
        now, ready = until, ready + 1
    return backlog


def _time_to_serve(backlog: float, rate: float, ready: int, births: list[float]) -> float:
    """How long the backlog takes, as workers that are ordered become ready."""
    now = 0.0
    for birth in births:
        done = ready * rate * (birth - now)
        if done >= backlog:
            break
        backlog, now, ready = backlog - done, birth, ready + 1
    return now + _over(backlog, ready * rate) if backlog else 0.0


def worst_wait(samples: tuple[Sample, ...], rate: float, workers: int) -> float:
    """The longest wait, in seconds, had so many workers met these arrivals, beginning with no backlog.

    What arrived in an interval above the mean before it came at once, for all that is known; the rest evenly.
    """
    speed, backlog, worst = rate * workers, 0.0, 0.0
    for before, now in pairwise(samples):
        span = now.at - before.at
        sudden = max(0.0, now.arrivals - before.level) * span
        after = max(0.0, backlog + (now.arrivals - speed) * span)
        worst = max(worst, (backlog + sudden) / speed, after / speed)
        backlog = after
    return worst


def spell(count: float) -> str:
    """A number with its thousands apart, with one decimal below ten where it has any."""
    return f"{count:,.1f}" if count < 10 and count != int(count) else f"{count:,.0f}"  # noqa: PLR2004


def seconds(span: float) -> str:
    """A time."""
    return "unlimited time" if isinf(span) else f"{span:,.0f} s"


def speed(rate: float) -> str:
    """Entries a second."""
    return f"{spell(rate)}/s"


def workers(count: int) -> str:
    """Some workers."""
    return f"{count:,} worker" if count == 1 else f"{count:,} workers"


def handling(count: int) -> str:
    """Some workers, and that they handle what follows."""
    return f"{workers(count)} {'handles' if count == 1 else 'handle'}"
