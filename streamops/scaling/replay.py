"""What fewer workers would have made of the recent past."""

from itertools import pairwise

from streamops.scaling.arrivals import since
from streamops.scaling.state import Sample


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
