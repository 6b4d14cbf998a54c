"""The section about handlers: how long they take, and what fails."""

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours, links
from dashboards.boards.asking import quantile
from dashboards.boards.board import Section, evenly
from dashboards.boards.charts import graph_panel, heat_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import MANY

WORKER = MANY.worker
HANDLER = "stream, group, handler"
HANDLED = "{{handler}}: {{stream}} / {{group}}"
QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


def handlers() -> Section:
    """What the workers' own metrics tell."""
    return Section(
        "Handlers",
        (
            evenly(9, _durations(), _latencies()),
            evenly(8, _calls(), _failures(), _occupied()),
            evenly(8, _retries(), _given_up(), _oddities()),
        ),
    )


def _durations() -> dashboard.Panel:
    asked = (
        Query(
            quantile(share, "handler_duration_seconds", MANY, HANDLER),
            f"{HANDLED}, {name}",
        )
        for name, share in QUANTILES
    )
    return graph_panel(
        "Duration of calls",
        "How long half, 95 % and 99 % of a handler's calls take at most.",
        *asked,
        unit="s",
        none="no calls",
        links=(links.line_to_stream(instance=False),),
    )


def _latencies() -> dashboard.Panel:
    buckets = WORKER.rate("entry_latency_seconds_bucket")
    return heat_panel(
        "End-to-end latency",
        "How many entries a second are done how long after they were added. A band that climbs: a backlog.",
        Query(f"sum by (le) ({buckets})", "{{le}}"),
    )


def _calls() -> dashboard.Panel:
    return graph_panel(
        "Calls",
        "Calls of handlers that ended, a second.",
        Query(
            f"sum by ({HANDLER}) ({WORKER.rate('handler_duration_seconds_count')})",
            HANDLED,
        ),
        unit="cps",
        none="no calls",
        links=(links.line_to_stream(instance=False),),
    )


def _failures() -> dashboard.Panel:
    return graph_panel(
        "Failures",
        "Calls of handlers that raised, a second.",
        Query(f"sum by ({HANDLER}) ({WORKER.rate('handler_failures_total')})", HANDLED),
        unit="cps",
        none="no calls",
        links=(links.line_to_stream(instance=False),),
    )


def _occupied() -> dashboard.Panel:
    calls, limit = WORKER("in_flight"), WORKER("concurrency_limit")
    return graph_panel(
        "Handlers occupied",
        "The share of the calls that may be under way that are. At 100 %: this handler is the bottleneck.",
        Query(f"sum by ({HANDLER}) ({calls}) / (sum by ({HANDLER}) ({limit}) > 0)", HANDLED),
        unit="percentunit",
        steps=colours.BUSY,
        most=1,
        none="no workers",
        links=(links.line_to_stream(instance=False),),
    )


def _retries() -> dashboard.Panel:
    return graph_panel(
        "Tried again",
        "Entries a second that are tried again, by the reason.",
        Query(f"sum by (reason) ({WORKER.rate('retries_total')})", "{{reason}}"),
        unit="cps",
        none="nothing was tried again",
    )


def _given_up() -> dashboard.Panel:
    return graph_panel(
        "Given up",
        "Entries a second that handlers gave up and moved to the dead letters, by the reason.",
        Query(f"sum by (reason) ({WORKER.rate('dead_lettered_total')})", "{{reason}}"),
        unit="cps",
        none="nothing was given up",
        links=(links.board("Dead letters", links.LETTERS),),
    )


def _oddities() -> dashboard.Panel:
    return graph_panel(
        "Taken over, duplicates, lost",
        "Entries a second that workers took over from dead consumers, that were left alone because another entry"
        " had their business key, and that were read with noack and not handled to the end.",
        Query(f"sum({WORKER.rate('reclaimed_total')})", "taken over"),
        Query(f"sum({WORKER.rate('duplicates_total')})", "duplicates"),
        Query(f"sum({WORKER.rate('noack_lost_total')})", "lost with noack"),
        unit="cps",
        none="no workers",
    )
