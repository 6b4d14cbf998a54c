"""What workers did, as Prometheus metrics: one HTTP endpoint for all worker processes, with probes for who watches them."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import accumulate
from typing import Final

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from streamops.runtime.counts import BOUNDS, HandlerCounts
from streamops.service.authentication import Authentication, require_authentication
from streamops.service.listening import listening

LABELS: Final = ("stream", "group", "handler")
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
HISTOGRAMS: Final = (
    ("handler_duration_seconds", "Duration of a handler's calls.", "durations"),
    (
        "entry_latency_seconds",
        "From an entry's birth, by its ID and the server's clock, to the end of its handling.",
        "latencies",
    ),
)
NUMBERS: Final = (
    (CounterMetricFamily, "handler_failures", "Calls of a handler that raised.", "failures"),
    (CounterMetricFamily, "retries", "Entries that are tried again.", "retries"),
    (CounterMetricFamily, "dead_lettered", "Entries dead-lettered.", "dead_lettered"),
    (CounterMetricFamily, "reclaimed", "Entries taken over from other consumers.", "reclaimed"),
    (CounterMetricFamily, "duplicates", "Entries whose business key another entry had.", "duplicates"),
    (
        CounterMetricFamily,
        "noack_lost",
        "Entries read with noack that were not handled to the end.",
        "noack_lost",
    ),
    (GaugeMetricFamily, "in_flight", "Calls under way.", "in_flight"),
    (GaugeMetricFamily, "concurrency_limit", "Calls that may be under way.", "concurrency"),
)
"""Families by name, text and the count that they show; those of numbers by reason have it as a further label."""
BY_REASON: Final = frozenset({"retries", "dead_lettered"})


class WorkerCollector(Collector):
    """Makes metrics of the counts of the moment: constant samples of one reading, so that nothing goes stale.

    Args:
        read: Reads the counts.
    """

    def __init__(self, read: Callable[[], Iterable[HandlerCounts]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The metrics."""
        handlers = [((one.stream, one.group, one.handler), one) for one in self._read()]
        for name, text, field in HISTOGRAMS:
            histogram = HistogramMetricFamily(f"streamops_{name}", text, labels=LABELS)
            for labels, one in handlers:
                distribution = getattr(one, field)
                bounds = (*map(str, BOUNDS), "+Inf")
                buckets = list(zip(bounds, accumulate(distribution.counts), strict=True))
                histogram.add_metric(labels, buckets, distribution.total)
            yield histogram
        for kind, name, text, field in NUMBERS:
            by_reason = field in BY_REASON
            family = kind(f"streamops_{name}", text, labels=(*LABELS, "reason") if by_reason else LABELS)
            for labels, one in handlers:
                value = getattr(one, field)
                rows = (
                    [((*labels, reason), value[reason]) for reason in value]
                    if by_reason
                    else [(labels, value)]
                )
                for row in rows:
                    family.add_metric(*row)
            yield family


def render(collector: Collector) -> bytes:
    """The metrics in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    return generate_latest(registry)


@asynccontextmanager
async def serving(
    host: str,
    port: int,
    collector: Collector,
    *,
    healthy: Callable[[], bool],
    ready: Callable[[], bool],
) -> AsyncIterator[int]:
    """Serve ``/metrics``, ``/-/healthy`` and ``/-/ready``; gives the port.

    Raises:
        SettingsError: Nothing can listen there.
    """

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=render(collector), headers={"Content-Type": CONTENT_TYPE})

    def probe(good: Callable[[], bool], word: str) -> Callable[[web.Request], object]:
        async def answer(_: web.Request) -> web.Response:
            return (
                web.Response(text=f"{word}\n") if good() else web.Response(text=f"not {word}\n", status=503)
            )

        return answer

    authentication = Authentication(None)
    application = web.Application()
    require_authentication(application, authentication)
    application.router.add_get("/metrics", metrics)
    application.router.add_get("/-/healthy", probe(healthy, "healthy"))  # type: ignore[arg-type]  # it is a handler
    application.router.add_get("/-/ready", probe(ready, "ready"))  # type: ignore[arg-type]  # it is a handler
    async with listening(application, host, port, authentication, flag="--metrics") as chosen:
        yield chosen
