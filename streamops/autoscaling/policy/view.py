"""All that the rules look at, computed once, and how their sentences say numbers."""

from math import inf, isinf

from msgspec import Struct

from streamops.autoscaling.policy.config import ScalingConfig, Tuning
from streamops.autoscaling.policy.readings import at_least, forecast, waiting
from streamops.autoscaling.policy.state import Sample, ScalingState
from streamops.model.scaling import Demand, ScaleCode


class Verdict(Struct, frozen=True, gc=False):
    """What a rule wants.

    Attributes:
        target: Workers.
        code: The rule.
        text: Why, with numbers.
    """

    target: int
    code: ScaleCode
    text: str


class View(Struct, frozen=True, kw_only=True):
    """A reading beside what is remembered. Times are seconds.

    Attributes:
        config: What the operator set.
        state: What is remembered, this reading included.
        demand: The reading.
        waiting: Entries that wait; none where unknown.
        backlog: Entries that wait for certain.
        rate: What one worker handles a second; 0 where not known.
        arrivals: Mean of arrivals a second.
        coming: Arrivals a second by the time that workers ordered now are there.
        start_up: How long those take.
        interval: Since the reading before.
        wait: What the entry that came last waits, by the workers that are ready.
        left: Entries that wait when workers ordered now are there.
        ahead: The longer of what the entry that came last waits, by all workers that are ordered, and what one waits
            that comes when workers ordered now are there.
    """

    config: ScalingConfig
    state: ScalingState
    demand: Demand
    waiting: int | None
    backlog: int
    rate: float
    arrivals: float
    coming: float
    start_up: float
    interval: float
    wait: float
    left: float
    ahead: float

    @property
    def tuning(self) -> Tuning:
        """The policy's own numbers."""
        return self.config.tuning

    @property
    def objective(self) -> float:
        """The longest an entry should wait."""
        return self.config.objective.total_seconds()

    @property
    def capacity(self) -> float:
        """What all ordered workers handle a second."""
        return self.demand.ordered * self.rate


def look(config: ScalingConfig, state: ScalingState, demand: Demand) -> View:
    """The view of a reading that the state has learned from."""
    rate = state.rate or 0.0
    samples = state.samples
    interval = samples[-1].at - samples[-2].at if len(samples) > 1 else 0.0
    start_up = config.start_up.total_seconds() if state.start_up is None else state.start_up
    ahead = start_up + interval
    arrivals = samples[-1].level
    backlog = at_least(demand)
    births = sorted(max(0.0, at + start_up - demand.at) for at in state.starting)
    going_on = _going_on(samples, config.tuning.fresh)
    left = _left(backlog, going_on, rate=rate, ready=demand.ready, births=births, span=ahead)
    served = _time_to_serve(backlog, rate, demand.ready, births)
    every = demand.ordered * rate
    return View(
        config=config,
        state=state,
        demand=demand,
        waiting=waiting(demand),
        backlog=backlog,
        rate=rate,
        arrivals=arrivals,
        coming=forecast(samples, ahead, config.tuning),
        start_up=start_up,
        interval=interval,
        wait=max(_over(backlog, demand.ready * rate), demand.head_age or 0.0),
        left=left,
        ahead=max(served, _over(left, every)),
    )


def _going_on(samples: tuple[Sample, ...], fresh: float) -> float:
    """Arrivals a second, nearer to the newest than the mean where the last two intervals agree on more."""
    level = samples[-1].level
    newest = min(sample.arrivals for sample in samples[-2:])
    return level + fresh * max(0.0, newest - level)


def _over(count: float, speed: float) -> float:
    return 0.0 if not count else count / speed if speed else inf


def _left(
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


def spell(count: float) -> str:
    """A number with its thousands apart, with one decimal below ten where it has any."""
    return f"{count:,.1f}" if count < 10 and count != int(count) else f"{count:,.0f}"  # noqa: PLR2004


def seconds(span: float) -> str:
    """A time."""
    return "without end" if isinf(span) else f"{span:,.0f} s"


def speed(rate: float) -> str:
    """Entries a second."""
    return f"{spell(rate)}/s"


def workers(count: int) -> str:
    """Some workers."""
    return f"{count:,} worker" if count == 1 else f"{count:,} workers"


def handling(count: int) -> str:
    """Some workers, and that they handle what follows."""
    return f"{workers(count)} {'handles' if count == 1 else 'handle'}"
