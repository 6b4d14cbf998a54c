"""What workers did, in figures: taken from a worker, sent through a pipe, added up, never falling."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.safe_text import encodable
from streamops.runtime.counts import BOUNDS, Histogram
from streamops.runtime.worker import Worker

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
    in_flight: int = 0
    concurrency: int = 0

    def __add__(self, other: "HandlerCounts") -> "HandlerCounts":
        return HandlerCounts(
            stream=self.stream,
            group=self.group,
            handler=self.handler,
            durations=self.durations + other.durations,
            latencies=self.latencies + other.latencies,
            failures=self.failures + other.failures,
            retries=_sum(self.retries, other.retries),
            dead_lettered=_sum(self.dead_lettered, other.dead_lettered),
            reclaimed=self.reclaimed + other.reclaimed,
            duplicates=self.duplicates + other.duplicates,
            in_flight=self.in_flight + other.in_flight,
            concurrency=self.concurrency + other.concurrency,
        )

    @property
    def handled(self) -> int:
        """How many calls ended."""
        return sum(self.durations.counts)


def counts_of(worker: Worker) -> tuple[HandlerCounts, ...]:
    """The figures of a worker's handlers, now."""
    return tuple(
        HandlerCounts(
            stream=encodable(",".join(name for name, _ in runner.executor.handler.streams)),
            group=encodable(runner.executor.handler.group),
            handler=encodable(runner.executor.handler.name),
            durations=_distribution(runner.executor.counts.durations),
            latencies=_distribution(runner.executor.counts.latencies),
            failures=runner.executor.counts.failures,
            retries=dict(runner.executor.counts.retries),
            dead_lettered=dict(runner.executor.counts.dead_lettered),
            reclaimed=runner.executor.counts.reclaimed,
            duplicates=runner.executor.counts.duplicates,
            in_flight=runner.executor.busy,
            concurrency=len(runner.executor.slots),
        )
        for runner in worker.runners
    )


def at_rest(figures: Iterable[HandlerCounts]) -> tuple[HandlerCounts, ...]:
    """What remains of the figures of a worker that has ended: what it counted, not what it was about to do."""
    return tuple(replace(one, in_flight=0, concurrency=0) for one in figures)


def total(figures: Iterable[HandlerCounts]) -> tuple[HandlerCounts, ...]:
    """Figures added up by stream, group and handler, in their order."""
    sums: dict[tuple[str, str, str], HandlerCounts] = {}
    for one in figures:
        key = one.stream, one.group, one.handler
        sums[key] = sums[key] + one if key in sums else one
    return tuple(sums.values())


def _distribution(histogram: Histogram) -> Distribution:
    return Distribution(tuple(histogram.counts), histogram.total)


def _sum(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *(other.keys() - one.keys()))}
