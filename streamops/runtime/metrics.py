"""Workers' figures as Prometheus metrics."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from streamops.runtime.counts import BOUNDS
from streamops.runtime.handler_counts import Distribution, HandlerCounts

LABELS = ("stream", "group", "handler")


class WorkerCollector(Collector):
    """Makes metrics of the figures of the moment: constant samples of one reading, so that nothing goes stale.

    Args:
        read: Reads the figures.
    """

    def __init__(self, read: Callable[[], Iterable[HandlerCounts]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The metrics."""
        figures = list(self._read())
        yield _histogram(
            "handler_duration_seconds", "Duration of a handler's calls.", figures, lambda one: one.durations
        )
        yield _histogram(
            "entry_latency_seconds",
            "From an entry's birth, by its ID and the server's clock, to the end of its handling.",
            figures,
            lambda one: one.latencies,
        )
        yield _counter(
            "handler_failures", "Calls of a handler that raised.", figures, lambda one: one.failures
        )
        yield _by_reason("retries", "Entries that are tried again.", figures, lambda one: one.retries)
        yield _by_reason("dead_lettered", "Entries given up.", figures, lambda one: one.dead_lettered)
        yield _counter(
            "reclaimed", "Entries taken over from other consumers.", figures, lambda one: one.reclaimed
        )
        yield _counter(
            "duplicates", "Entries whose business key another entry had.", figures, lambda one: one.duplicates
        )
        yield _gauge("in_flight", "Calls under way.", figures, lambda one: one.in_flight)
        yield _gauge(
            "concurrency_limit", "Calls that may be under way.", figures, lambda one: one.concurrency
        )


def render(read: Callable[[], Iterable[HandlerCounts]]) -> bytes:
    """The metrics in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(WorkerCollector(read))
    return generate_latest(registry)


def _labels(figures: HandlerCounts) -> tuple[str, str, str]:
    return figures.stream, figures.group, figures.handler


def _histogram(
    name: str, text: str, figures: Iterable[HandlerCounts], value: Callable[[HandlerCounts], Distribution]
) -> Metric:
    family = HistogramMetricFamily(f"streamops_{name}", text, labels=LABELS)
    for one in figures:
        distribution, seen = value(one), 0
        buckets = []
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), distribution.counts, strict=True):
            seen += count
            buckets.append((bound, seen))
        family.add_metric(_labels(one), buckets, distribution.total)
    return family


def _counter(
    name: str, text: str, figures: Iterable[HandlerCounts], value: Callable[[HandlerCounts], int]
) -> Metric:
    family = CounterMetricFamily(f"streamops_{name}", text, labels=LABELS)
    for one in figures:
        family.add_metric(_labels(one), value(one))
    return family


def _by_reason(
    name: str, text: str, figures: Iterable[HandlerCounts], value: Callable[[HandlerCounts], dict[str, int]]
) -> Metric:
    family = CounterMetricFamily(f"streamops_{name}", text, labels=(*LABELS, "reason"))
    for one in figures:
        for reason, count in value(one).items():
            family.add_metric((*_labels(one), reason), count)
    return family


def _gauge(
    name: str, text: str, figures: Iterable[HandlerCounts], value: Callable[[HandlerCounts], int]
) -> Metric:
    family = GaugeMetricFamily(f"streamops_{name}", text, labels=LABELS)
    for one in figures:
        family.add_metric(_labels(one), value(one))
    return family
