"""Whether a series stands still, by a line that single readings cannot bend. Pure."""

from collections.abc import Sequence
from itertools import combinations
from statistics import median

from msgspec import Struct

FROM = 0.25
"""What is read before this share of the time is warming up."""

LIMIT = 0.05
"""How much of its level a series may gain over the rest."""

MOST = 400
"""Readings that a line is put through; of more, every second one, third one and so on."""


class Trend(Struct, frozen=True):
    """Where a series stands, and what it gained.

    Attributes:
        level: The median.
        gained: The slope after Theil and Sen, the median of the slopes of all pairs, times the duration.
        unit: The least difference that counts: one connection is no trend.
    """

    level: float
    gained: float
    unit: float = 0.0

    @property
    def is_flat(self) -> bool:
        """Whether it gained less than it may."""
        return self.gained <= max(LIMIT * self.level, self.unit)


def trend(readings: Sequence[tuple[float, float]], *, unit: float = 0.0) -> Trend | None:
    """The trend of readings, each with its time; none where there are too few to tell.

    Args:
        readings: In the order of their times.
        unit: The least difference that counts.
    """
    if len(readings) < 2:
        return None
    began, ended = readings[0][0], readings[-1][0]
    late = [(at, value) for at, value in readings if at >= began + FROM * (ended - began)]
    late = late[:: -(-len(late) // MOST)]
    slopes = [(v2 - v1) / (t2 - t1) for (t1, v1), (t2, v2) in combinations(late, 2) if t2 > t1]
    if not slopes:
        return None
    return Trend(median(value for _, value in late), median(slopes) * (late[-1][0] - late[0][0]), unit)
