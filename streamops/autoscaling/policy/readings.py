"""What readings say: what waits, what comes in, and what fewer workers would have made of it."""

from itertools import pairwise

from streamops.autoscaling.policy.config import Tuning
from streamops.autoscaling.policy.state import Sample
from streamops.model.scaling import Demand


def waiting(demand: Demand) -> int | None:
    """Entries that wait; none where no count can be trusted.

    A lag with nothing behind the last delivered entry is a phantom, and nothing waits; the same where at most
    none do.
    """
    if demand.probed_empty or demand.lag.upper == 0:
        return 0
    return demand.lag.entries if demand.lag.known else None


def at_least(demand: Demand) -> int:
    """Entries that wait for certain."""
    if demand.probed_empty:
        return 0
    known = waiting(demand)
    return known if known is not None else demand.lag.lower or 0


def phantom(demand: Demand) -> bool:
    """Whether the lag counts entries that are not there."""
    return demand.probed_empty and bool(demand.lag.entries)


def forecast(samples: tuple[Sample, ...], ahead: float, tuning: Tuning) -> float:
    """Arrivals a second in ``ahead`` seconds.

    The mean of arrivals, and its slope where that rises, at most a little above its recent peak.
    """
    if len(samples) < 2:  # noqa: PLR2004 - two readings make an interval
        return 0.0
    latest = since(samples[1:], samples[-1].at - tuning.horizon)
    level = latest[-1].level
    peak = max(sample.level for sample in latest)
    return min(level + max(0.0, _slope(latest)) * ahead, max(level, tuning.recent_peak * peak))


def since(samples: tuple[Sample, ...], at: float) -> tuple[Sample, ...]:
    """The readings from then on."""
    first = len(samples)
    while first and samples[first - 1].at >= at:
        first -= 1
    return samples[first:]


def _slope(samples: tuple[Sample, ...]) -> float:
    """Least squares through the arrivals of each interval."""
    count = len(samples)
    middle = sum(sample.at for sample in samples) / count
    squares = sum((sample.at - middle) ** 2 for sample in samples)
    if count < 3 or not squares:  # noqa: PLR2004 - two points are no trend
        return 0.0
    return sum((sample.at - middle) * sample.arrivals for sample in samples) / squares


def worst_wait(samples: tuple[Sample, ...], rate: float, workers: int) -> float:
    """The longest wait, in seconds, had so many workers met these arrivals, beginning with no backlog.

    What arrived in an interval above the mean before it came at once, for all that is known; the rest evenly.
    """
    speed, backlog, worst = rate * workers, 0.0, 0.0
    for before, now in pairwise(samples):
        span = now.at - before.at
        arrived = now.arrivals * span
        sudden = max(0.0, arrived - before.level * span)
        after = max(0.0, backlog + arrived - speed * span)
        worst = max(worst, (backlog + sudden) / speed, after / speed)
        backlog = after
    return worst


def recent(samples: tuple[Sample, ...], span: float) -> tuple[Sample, ...]:
    """The readings of the last so many seconds."""
    return since(samples, samples[-1].at - span)
