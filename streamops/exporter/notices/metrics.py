"""What became of notices, as a metric."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from streamops.exporter.catalogue.others import NOTIFICATIONS


class NotifyCollector(Collector):
    """Counts attempts and messages by outcome; what it tells is read at each scrape.

    Args:
        read: The counts.
    """

    def __init__(self, read: Callable[[], Mapping[str, int]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The metric."""
        family = CounterMetricFamily(NOTIFICATIONS.base, NOTIFICATIONS.help, labels=NOTIFICATIONS.labels)
        for outcome, number in self._read().items():
            family.add_metric((outcome,), number)
        yield family
