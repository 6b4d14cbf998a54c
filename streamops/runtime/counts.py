"""Counts and histograms of one handler, kept without locks: they are written by the event loop alone."""

from bisect import bisect_left
from typing import Final

BOUNDS: Final = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
    300.0,
)
"""Upper bounds in seconds of what a histogram tells apart."""


UNKNOWN: Final = 0.05
"""Seconds that a call is taken for before the first was timed: reading too little costs but a round trip."""
MEMORY: Final = 50
"""After how many calls what was before is forgotten."""
SHORTEST: Final = 1e-7


class Histogram:
    """Durations, counted by size.

    Attributes:
        counts: How many fell below each bound and above the one before; the last has no bound.
        total: The sum of all, in seconds.
    """

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0
        self._recent = UNKNOWN
        self._seen = (0, 0.0)

    def observe(self, seconds: float, times: int = 1) -> None:
        """Count one duration, or so many of it."""
        self.counts[bisect_left(BOUNDS, seconds)] += times
        self.total += seconds * times

    @property
    def recent(self) -> float:
        """The mean of late, in seconds: of what came since this was last asked, and less and less of what was before."""
        count, total = self._seen
        now = sum(self.counts)
        if new := now - count:
            self._seen = now, self.total
            weight = min(1.0, new / MEMORY)
            self._recent += ((self.total - total) / new - self._recent) * weight
        return max(self._recent, SHORTEST)


class Counts:
    """What one handler did since its worker started.

    Attributes:
        durations: How long its calls took.
        latencies: How long its entries had waited in all when they were done, where that is measured.
        failures: Calls that raised.
        retries: Entries that are tried again, by reason.
        dead_lettered: Entries that were given up, by reason.
        reclaimed: Entries taken over from others.
        duplicates: Entries whose business key another entry had.
        shared: Seconds by which the durations of entries that were handled together exceed those of their calls.
    """

    def __init__(self) -> None:
        self.durations = Histogram()
        self.latencies = Histogram()
        self.failures = 0
        self.retries: dict[str, int] = {}
        self.dead_lettered: dict[str, int] = {}
        self.reclaimed = 0
        self.duplicates = 0
        self.shared = 0.0
        self.observe = self.durations.observe

    def observe_batch(self, seconds: float, entries: int) -> None:
        """Count one call that handled so many entries together."""
        self.observe(seconds, entries)
        self.shared += seconds * max(0, entries - 1)

    @property
    def worked(self) -> float:
        """Seconds that slots were busy, of calls that have ended."""
        return self.durations.total - self.shared
