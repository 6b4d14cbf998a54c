"""Metrics of this process, as prometheus_client makes them."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from streamops.exporter.catalogue import FAMILY
from streamops.exporter.rendering import END, Form


class OwnMetrics(Collector):
    """Families that follow those of a page: memory, processor time, descriptors, garbage collection, notices.

    Args:
        notices: What became of notices, by outcome; none without ``--notify``.
    """

    def __init__(self, notices: Callable[[], Mapping[str, int]] | None = None) -> None:
        self._notices = notices
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        self._registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """Notices by outcome."""
        if self._notices is not None:
            row = FAMILY["streamops_notifications_total"]
            family = CounterMetricFamily(row.base, row.help, labels=row.labels)
            for outcome, number in self._notices().items():
                family.add_metric((outcome,), number)
            yield family

    def render(self, form: Form) -> bytes:
        """The families now, without what ends a page."""
        if form is Form.TEXT:
            return generate_latest(self._registry)
        rendered: bytes = generate_openmetrics(self._registry)  # type: ignore[no-untyped-call]  # it has no types
        return rendered.removesuffix(END)
