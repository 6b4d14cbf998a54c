"""What handlers did: counted without locks by the event loop alone, sent through a pipe, added up, never falling."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.text import encodable

BOUNDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    *(0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0),
)
"""Upper bounds in seconds of what a histogram distinguishes."""


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
        """Count a duration, once or several times."""
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


class HandlerCounters:
    """What one handler did since its worker started.

    Attributes:
        durations: How long its calls took.
        latencies: How long its entries had waited in all when they were done, if that is measured.
        failures: Calls that raised.
        retries: Entries that are tried again, by reason.
        dead_lettered: Entries that were given up, by reason.
        reclaimed: Entries taken over from others.
        duplicates: Entries whose business key another entry had.
        noack_lost: Entries read with noack that failed, or were not handled before the worker ended.
        shared: Seconds by which the durations of entries that were handled together exceed those of their calls.
    """

    def __init__(self) -> None:
        self.durations = Histogram()
        self.latencies = Histogram()
        self.failures = 0
        self.retries = Counter[str]()
        self.dead_lettered = Counter[str]()
        self.reclaimed = 0
        self.duplicates = 0
        self.noack_lost = 0
        self.shared = 0.0
        self.observe = self.durations.observe

    def observe_batch(self, seconds: float, entries: int) -> None:
        """Count one call that handled several entries together."""
        self.observe(seconds, entries)
        self.shared += seconds * max(0, entries - 1)

    def snapshot(
        self, streams: Iterable[str], group: str, name: str, *, busy: int, slots: int
    ) -> "HandlerCounts":
        """What the handler of this name did by now, and does."""
        return HandlerCounts(
            stream=encodable(",".join(streams)),
            group=encodable(group),
            handler=encodable(name),
            durations=Distribution(tuple(self.durations.counts), self.durations.total),
            latencies=Distribution(tuple(self.latencies.counts), self.latencies.total),
            failures=self.failures,
            retries=dict(self.retries),
            dead_lettered=dict(self.dead_lettered),
            reclaimed=self.reclaimed,
            duplicates=self.duplicates,
            noack_lost=self.noack_lost,
            in_flight=busy,
            concurrency=slots,
        )

    @property
    def worked(self) -> float:
        """Seconds that slots were busy, of calls that have ended."""
        return self.durations.total - self.shared


NO_COUNTS = (0,) * (len(BOUNDS) + 1)


class Distribution(Struct, frozen=True):
    """Durations by size.

    Attributes:
        counts: How many fell below each of ``BOUNDS`` and above the one before; the last has no bound.
        total: The sum of all, in seconds.
    """

    counts: tuple[int, ...] = NO_COUNTS
    total: float = 0.0

    def __add__(self, other: "Distribution") -> "Distribution":
        counts = tuple(map(sum, zip(self.counts, other.counts, strict=True)))
        return Distribution(counts, self.total + other.total)


class HandlerCounts(Struct, frozen=True, kw_only=True):
    r"""One handler's figures, of one worker or of several.

    Attributes:
        stream: The stream that it serves, or all of them, joined by commas: what it does is counted once for all.
            Bytes of it that are no UTF-8 as ``\xNN``, here and below.
        group: Its consumer group.
        handler: Its name.
        durations: How long its calls took.
        latencies: From an entry's birth, by its ID, to the end of its handling.
        failures: Calls that raised.
        retries: Entries tried again, by reason.
        dead_lettered: Entries given up, by reason.
        reclaimed: Entries taken over from other consumers.
        duplicates: Entries whose business key another entry had.
        noack_lost: Entries read with noack that failed, or were not handled before the worker ended.
        in_flight: Calls under way.
        concurrency: Calls that may be under way.
    """

    stream: str
    group: str
    handler: str
    durations: Distribution = Distribution()
    latencies: Distribution = Distribution()
    failures: int = 0
    retries: dict[str, int] = {}
    dead_lettered: dict[str, int] = {}
    reclaimed: int = 0
    duplicates: int = 0
    noack_lost: int = 0
    in_flight: int = 0
    concurrency: int = 0

    def __add__(self, other: "HandlerCounts") -> "HandlerCounts":
        return replace(self, **{name: _sum(getattr(self, name), getattr(other, name)) for name in _SUMMED})

    @property
    def handled(self) -> int:
        """How many calls ended."""
        return sum(self.durations.counts)


_SUMMED: Final = HandlerCounts.__struct_fields__[3:]


def at_rest(counts: Iterable[HandlerCounts]) -> tuple[HandlerCounts, ...]:
    """What remains of the counts of a worker that has ended: what it counted, not what it was about to do."""
    return tuple(replace(one, in_flight=0, concurrency=0) for one in counts)


def total(counts: Iterable[HandlerCounts]) -> tuple[HandlerCounts, ...]:
    """Counts added up by stream, group and handler, in their order."""
    sums: dict[tuple[str, str, str], HandlerCounts] = {}
    for one in counts:
        key = one.stream, one.group, one.handler
        sums[key] = sums[key] + one if key in sums else one
    return tuple(sums.values())


def _sum(one: Any, other: Any) -> Any:  # noqa: ANN401 - numbers, distributions, or numbers by reason
    if not isinstance(one, dict):
        return one + other
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *(other.keys() - one.keys()))}
