"""Metrics of this process, as prometheus_client makes them."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from streamops.exporter.catalogue.others import NOTIFICATIONS
from streamops.exporter.metrics.text import OPENMETRICS_END, Form


class OwnMetrics:
    """Families that follow those of a page: memory, processor time, descriptors, garbage collection, notices.

    Args:
        notices: What became of notices, by outcome; none where nobody is told of anything.
    """

    def __init__(self, notices: Callable[[], Mapping[str, int]] | None = None) -> None:
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        if notices is not None:
            self._registry.register(NotifyCollector(notices))

    def render(self, form: Form) -> bytes:
        """The families now, without what ends a page."""
        if form is Form.TEXT:
            return generate_latest(self._registry)
        rendered: bytes = generate_openmetrics(self._registry)  # type: ignore[no-untyped-call]  # it has no types
        return rendered.removesuffix(OPENMETRICS_END)


class NotifyCollector(Collector):
    """Counts notices by outcome.

    Args:
        read: The counts, read at each scrape.
    """

    def __init__(self, read: Callable[[], Mapping[str, int]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The metric."""
        family = CounterMetricFamily(NOTIFICATIONS.base, NOTIFICATIONS.help, labels=NOTIFICATIONS.labels)
        for outcome, number in self._read().items():
            family.add_metric((outcome,), number)
        yield family
