"""The section about the servers and about the exporter itself."""

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours
from dashboards.boards.asking import beside, memory_share
from dashboards.boards.board import Section, evenly
from dashboards.boards.charts import graph_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import EXPORTER
from dashboards.boards.tables import Column, Label, table_panel


def watching() -> Section:
    """How the servers are, and how the exporter fares."""
    return Section("Redis and the exporter", (evenly(7, _servers(), _memory()), evenly(6, *_exporter())))


def _servers() -> dashboard.Panel:
    process = "instance, address"
    info = f"max by ({process}, flavour, version, role) ({EXPORTER('redis_info')})"
    policy = f"max by ({process}, maxmemory_policy) ({EXPORTER('redis_config_info')})"
    column = beside(f"{info} * on ({process}) group_left (maxmemory_policy) {policy}", process)
    return table_panel(
        "Servers",
        "The Redis and Valkey processes. With any policy but noeviction, a full server drops whole streams.",
        (
            Label("instance", "Instance"),
            Label("address", "Address"),
            Label("flavour", "Flavour", width=80),
            Label("version", "Version", width=80),
            Label("role", "Role", width=80),
            Label("maxmemory_policy", "When full", width=110),
        ),
        (
            Column("Memory", column(EXPORTER("redis_memory_used_bytes")), "bytes", width=100),
            Column("Limit", column(EXPORTER("redis_memory_max_bytes")), "bytes", width=100),
            Column("Share", column(memory_share()), "percentunit", colours.MEMORY, width=80),
        ),
        by="Share",
        none="No server was read",
    )


def _memory() -> dashboard.Panel:
    return graph_panel(
        "Memory",
        "What the servers use, and their limits (dashed), where they have one.",
        Query(f"sum by (address) ({EXPORTER('redis_memory_used_bytes')})", "{{address}}"),
        Query(f"sum by (address) ({EXPORTER('redis_memory_max_bytes')})", "{{address}} limit"),
        unit="bytes",
        bounds=("/ limit$/",),
    )


def _exporter() -> tuple[dashboard.Panel, ...]:
    return (
        graph_panel(
            "Scrape duration",
            "What the exporter did in its last scrape, by phase. It must stay well below Prometheus's timeout.",
            Query(f"sum by (phase) ({EXPORTER('scrape_duration_seconds')})", "{{phase}}"),
            unit="s",
            stacked=True,
        ),
        graph_panel(
            "Age of what is shown",
            "How old the exporter's reading of Redis is. Rising: Redis does not answer in time, and what the boards"
            " show is what it was.",
            Query(f"time() - {EXPORTER('snapshot_timestamp_seconds')}", "{{instance}}"),
            unit="s",
            steps=colours.SNAPSHOT,
        ),
        graph_panel(
            "Streams known, and what is not shown",
            "How many streams there are, what the exporter's limits keep off these boards, by the reason, and what it could"
            " not read.",
            Query(f"sum({EXPORTER('discovered_streams')})", "streams"),
            Query(
                f"sum by (scope, reason) ({EXPORTER('series_omitted')})", "left out: {{scope}}, {{reason}}"
            ),
            Query(f"sum by (part) ({EXPORTER('scrape_partial_failures')})", "not read: {{part}}"),
            unit="short",
        ),
        graph_panel(
            "Errors of reading",
            "Failures of the exporter to read Redis, a second, by stage. Its log gives the reasons.",
            Query(f"sum by (stage) ({EXPORTER.rate('collect_errors_total')})", "{{stage}}"),
            unit="cps",
            none="none since the exporter started",
        ),
    )
