"""Consumers and workers: who is there, who fell silent, how long handling takes, and what fails."""

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours, links, variables
from dashboards.boards.asking import beside, busy_share, quantile, silent
from dashboards.boards.board import Board, Section, evenly, line
from dashboards.boards.charts import graph_panel
from dashboards.boards.handlers import handlers
from dashboards.boards.panels import stat_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import KEY, MANY, POOL
from dashboards.boards.tables import Column, Label, table_panel

GROUP, WORKER = MANY.group, MANY.worker
CONSUMER = f"{KEY}, consumer"


def workers() -> Board:
    """The board of those who do the work."""
    return Board(
        uid=links.WORKERS,
        title="Consumers and workers",
        description="Consumers are names in a group, as Redis knows them; workers are processes of streamops, as"
        " their heartbeats and their own metrics tell. The panels about handlers need Prometheus to scrape the"
        " workers (streamops run --metrics).",
        variables=(*variables.exporter(), *variables.streams(), *variables.pools(), *variables.workers()),
        sections=(
            Section("Now", (evenly(4, *_now()),)),
            Section("Consumers", (line(9, (16, _holders()), (8, _held())),)),
            Section("Worker processes", (line(8, (8, _states()), (8, _slots()), (8, _pools())),)),
            handlers(),
        ),
    )


def _now() -> tuple[dashboard.Panel, ...]:
    failures, calls = WORKER.rate("handler_failures_total"), WORKER.rate("handler_duration_seconds_count")
    return (
        stat_panel(
            "Consumers active",
            "Consumers that asked for entries within the last minute, in all groups chosen.",
            Query(f"sum({GROUP('group_active_consumers')})", "consumers"),
            unit="none",
            steps=((None, colours.CRITICAL), (1, colours.OK)),
            none="not known",
        ),
        stat_panel(
            "Silent with entries",
            "Consumers that hold entries and were not seen for ten minutes: they are dead, and what they hold waits"
            " to be claimed.",
            Query(f"count({silent(MANY)}) or vector(0)", "consumers"),
            unit="none",
            steps=colours.ANY_WARN,
        ),
        stat_panel(
            "Worker processes",
            "Processes of streamops run with a living heartbeat.",
            Query(f"sum({POOL('workers')})", "workers"),
            unit="none",
            trend=True,
        ),
        stat_panel(
            "Workers stalled",
            "Processes whose event loop does not turn: a handler blocks it.",
            Query(f"""sum({POOL("workers", 'state="stalled"')}) or vector(0)""", "workers"),
            unit="none",
            steps=colours.ANY_CRITICAL,
        ),
        stat_panel(
            "Slots busy",
            "The share of what the workers can handle at once that they handle now. Near 100 %: more workers help.",
            Query(busy_share(), "busy"),
            unit="percentunit",
            steps=colours.BUSY,
            none="no workers",
        ),
        stat_panel(
            "Failing calls",
            "The share of handler calls that raised.",
            Query(f"sum({failures}) / (sum({calls}) > 0)", "failures"),
            unit="percentunit",
            steps=colours.FAILURES,
            none="no calls",
        ),
        stat_panel(
            "Handling, p95",
            "Of a hundred calls of a handler, 95 take no longer.",
            Query(quantile(0.95, "handler_duration_seconds", MANY), "p95"),
            unit="s",
            none="no calls",
            trend=True,
        ),
        stat_panel(
            "End-to-end latency, p95",
            "Of a hundred entries, 95 are done no later than this after they were added.",
            Query(quantile(0.95, "entry_latency_seconds", MANY), "p95"),
            unit="s",
            none="no calls",
            trend=True,
        ),
    )


def _holders() -> dashboard.Panel:
    rows = f"topk(50, max by ({CONSUMER}) ({GROUP('consumer_pending_entries')}) > 0)"
    column = beside(f"(({rows}) > bool 0)", CONSUMER)
    return table_panel(
        "Consumers that hold entries",
        "The fifty that hold most. Not seen for long: dead; claim what it holds. Seen, but its oldest entry was"
        " delivered long ago: it hangs or has forgotten it. Idle: since it last got an entry (from Redis 7.2 on).",
        (
            Label("instance", "Instance", width=160),
            Label("stream", "Stream", link=links.row_to_stream()),
            Label("group", "Group"),
            Label("consumer", "Consumer"),
        ),
        (
            Column("Pending", column(GROUP("consumer_pending_entries")), "short", width=80),
            Column(
                "Not seen for",
                column(GROUP.age("consumer_last_seen_timestamp_seconds")),
                "s",
                colours.UNSEEN,
                width=110,
            ),
            Column("Idle for", column(GROUP.age("consumer_last_active_timestamp_seconds")), "s", width=100),
            Column(
                "Oldest delivered",
                column(GROUP.age("consumer_oldest_pending_delivered_timestamp_seconds")),
                "s",
                colours.PENDING_AGE,
                width=130,
            ),
        ),
        by="Not seen for",
        none="No consumer holds an entry",
    )


def _held() -> dashboard.Panel:
    pending = f"max by ({CONSUMER}) ({GROUP('consumer_pending_entries')})"
    return graph_panel(
        "Pending by consumer: the ten with most",
        "Entries delivered to a consumer and not acknowledged. A flat line that never falls: they are not worked on.",
        Query(f"topk(10, {pending} > 0)", "{{stream}} / {{group}} / {{consumer}}"),
        unit="short",
        none="no consumer holds an entry",
        links=(links.line_to_stream(),),
    )


def _states() -> dashboard.Panel:
    return graph_panel(
        "Workers by state",
        "Processes with a living heartbeat. Stalled: a handler blocks the event loop. A process that dies leaves"
        " after its heartbeat runs out.",
        Query(f"sum by (state) ({POOL('workers')})", "{{state}}"),
        unit="none",
        colours=colours.STATE_COLOURS,
        stacked=True,
        none="no workers",
    )


def _slots() -> dashboard.Panel:
    return graph_panel(
        "Slots, and how many are busy",
        "What the workers can handle at once (dashed), and what they handle.",
        Query(f"sum({POOL('worker_slots')})", "slots"),
        Query(f"sum by (pool) ({POOL('worker_busy')})", "busy: {{pool}}"),
        unit="none",
        bounds=("slots",),
        none="no workers",
    )


def _pools() -> dashboard.Panel:
    key = "instance, pool"
    paused = f"max by ({key}) ({POOL('pool_paused')})"
    words = {"0": ("no", colours.OK), "1": ("paused", colours.NOTICE)}
    return table_panel(
        "Pools",
        "Workers by their pool. Paused stays empty for a pool that was never paused or resumed.",
        (Label("instance", "Instance"), Label("pool", "Pool")),
        (
            Column("Workers", f"sum by ({key}) ({POOL('workers')})", "none"),
            Column("Slots", f"sum by ({key}) ({POOL('worker_slots')})", "none"),
            Column("Busy", busy_share(key), "percentunit", colours.BUSY, decimals=0),
            Column("Paused", paused, "none", words=words),
        ),
        by="Busy",
        none="No workers",
    )
