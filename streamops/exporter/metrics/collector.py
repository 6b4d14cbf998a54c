"""streamops's metrics for anyone's own registry of prometheus_client."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from streamops.exporter.catalogue import FAMILIES, Family, Kind
from streamops.exporter.catalogue.others import NOTIFICATIONS
from streamops.exporter.metrics.guards import NO_GUARDS, Guards
from streamops.exporter.metrics.reading import Reading
from streamops.exporter.metrics.samples import rows
from streamops.exporter.metrics.sampling import Sampler


class StreamopsCollector(Collector):
    """Makes metrics of one reading a scrape, so that nothing goes stale.

    Args:
        read: Gives the reading of the moment.
        guards: What is shown of it.
    """

    def __init__(self, read: Callable[[], Reading], guards: Guards = NO_GUARDS) -> None:
        self._read = read
        self._sampler = Sampler(guards)

    def collect(self) -> Iterator[Metric]:
        """The metrics that have any sample."""
        for block in self._sampler.sample(self._read()):
            for column in block.columns:
                metric = _metric(column.family)
                for labels, value in rows(block, column):
                    metric.add_metric(labels.values, value)
                if metric.samples:
                    yield metric

    def describe(self) -> Iterable[Metric]:
        """What there may be, so that a registry notices names that are taken without reading the server."""
        return [_metric(family) for family in FAMILIES if family is not NOTIFICATIONS]


def _metric(family: Family) -> CounterMetricFamily | GaugeMetricFamily:
    kind = CounterMetricFamily if family.kind is Kind.COUNTER else GaugeMetricFamily
    return kind(family.base, family.help, labels=family.labels, unit=family.declared_unit)
