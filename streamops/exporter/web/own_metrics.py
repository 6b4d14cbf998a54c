"""Metrics of this process, as prometheus_client makes them."""

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

from streamops.exporter.metrics.text import OPENMETRICS_END
from streamops.exporter.notices.metrics import NotifyCollector
from streamops.exporter.scraping.negotiating import Form


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
