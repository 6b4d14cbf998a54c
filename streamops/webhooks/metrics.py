"""What became of topics' messages, counted without locks by the event loop alone, and shown to Prometheus.

Counters of several processes add up: each is a number under a name, which holds the family and the labels' values.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from streamops.runtime.counts import BOUNDS

PREFIX: Final = "streamops_webhook"
FAMILIES: Final = (
    ("messages_accepted", "Messages accepted over HTTP.", ()),
    (
        "messages_refused",
        "Requests to add a message that were refused, by the status of the answer.",
        ("status",),
    ),
    ("messages_cancelled", "Messages cancelled over HTTP.", ()),
    ("calls", "Calls of a topic's URL, by outcome: accepted, failed or rejected.", ("outcome",)),
    ("retries", "Calls that repeat an earlier one.", ()),
    ("dead_letters", "Messages dead-lettered, by reason.", ("reason",)),
)
"""Counters, what they say, and their labels after ``topic``."""

DURATION: Final = "call_duration_seconds"
DURATION_HELP: Final = "Duration of a topic's calls, from the connection to the whole answer."
SUM: Final = "sum"


class TopicCounters:
    """What one process did for topics.

    Attributes:
        values: Numbers that only grow, by name.
    """

    def __init__(self) -> None:
        self.values: dict[str, float] = defaultdict(float)

    def count(self, family: str, topic: str, label: str | int = "") -> None:
        """Count one, for a family of ``FAMILIES``."""
        self.values[f"{family} {topic} {label}"] += 1

    def observe(self, topic: str, seconds: float) -> None:
        """Count a call by its duration."""
        self.values[f"{DURATION} {topic} {bisect_left(BOUNDS, seconds)}"] += 1
        self.values[f"{DURATION} {topic} {SUM}"] += seconds


class TopicCollector(Collector):
    """Makes metrics of the numbers of the moment.

    Args:
        read: Reads the numbers of all processes, by name.
    """

    def __init__(self, read: Callable[[], Mapping[str, float]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The metrics."""
        found: dict[str, list[tuple[str, str, float]]] = {}
        for name, value in self._read().items():
            family, topic, label = name.split(" ")
            found.setdefault(family, []).append((topic, label, value))
        for family, text, labels in FAMILIES:
            counter = CounterMetricFamily(f"{PREFIX}_{family}", text, labels=("topic", *labels))
            for topic, label, value in sorted(found.get(family, ())):
                counter.add_metric([topic, label] if labels else [topic], value)
            yield counter
        yield _durations(found.get(DURATION, ()))


def _durations(rows: Iterable[tuple[str, str, float]]) -> Metric:
    histogram = HistogramMetricFamily(f"{PREFIX}_{DURATION}", DURATION_HELP, labels=("topic",))
    by_topic: dict[str, dict[str, float]] = {}
    for topic, label, value in rows:
        by_topic.setdefault(topic, {})[label] = value
    for topic, values in sorted(by_topic.items()):
        counts = accumulate(values.get(str(at), 0) for at in range(len(BOUNDS) + 1))
        buckets = list(zip((*map(str, BOUNDS), "+Inf"), counts, strict=True))
        histogram.add_metric([topic], buckets, values.get(SUM, 0.0))
    return histogram
