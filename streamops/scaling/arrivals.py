"""How much will be coming in when workers ordered now are there."""

from streamops.scaling.state import Sample
from streamops.scaling.tuning import Tuning


def forecast(samples: tuple[Sample, ...], ahead: float, tuning: Tuning) -> float:
    """Arrivals a second in ``ahead`` seconds.

    The mean of arrivals, and its slope where that rises, at most a little above its recent peak.
    """
    if len(samples) < 2:  # noqa: PLR2004 - two readings make an interval
        return 0.0
    recent = since(samples[1:], samples[-1].at - tuning.horizon)
    level = recent[-1].level
    peak = max(sample.level for sample in recent)
    return min(level + max(0.0, _slope(recent)) * ahead, max(level, tuning.recent_peak * peak))


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
