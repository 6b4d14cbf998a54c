"""What workers print at an endpoint of their own, as families of the exporter's kind: the page on metrics, boards and rules look there."""

from typing import Final

from prometheus_client.core import CounterMetricFamily

from streamops.exporter.families import MetricFamily, MetricKind, Scope
from streamops.runtime.metrics import BY_REASON, HISTOGRAMS, LABELS, NUMBERS

SECTION: Final = "Workers' own endpoint: `streamops run --metrics`"
COST: Final = "none: counted in the worker"
BY_HANDLER: Final = Scope(SECTION, LABELS, COST)
BY_HANDLER_AND_REASON: Final = Scope(SECTION, (*LABELS, "reason"), COST)
CALLS: Final = frozenset({"handler_failures", "in_flight", "concurrency_limit"})
"""Those that count calls; the others count entries."""


def _family(scope: Scope, name: str, kind: MetricKind, unit: str, text: str) -> MetricFamily:
    source = "entry IDs and TIME" if name == "entry_latency_seconds" else "the worker"
    total = "_total" if kind is MetricKind.COUNTER else ""
    return MetricFamily(
        scope=scope,
        name=f"streamops_{name}{total}",
        kind=kind,
        unit=unit,
        help=text,
        source=source,
        cost=COST,
        since="",
        value=lambda _: {},
    )


WORKER_FAMILIES: Final = (
    *(_family(BY_HANDLER, name, MetricKind.HISTOGRAM, "seconds", text) for name, text, _ in HISTOGRAMS),
    *(
        _family(
            BY_HANDLER_AND_REASON if field in BY_REASON else BY_HANDLER,
            name,
            MetricKind.COUNTER if made is CounterMetricFamily else MetricKind.GAUGE,
            "calls" if name in CALLS else "entries",
            text,
        )
        for made, name, text, field in NUMBERS
    ),
)
