"""The overview: is anything wrong, where, and how much is there to do."""

from typing import Final

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours, links, variables
from dashboards.boards.asking import arriving, beside, by_group, memory_share, waiting
from dashboards.boards.board import FIRING, Board, Section, evenly, firing, line
from dashboards.boards.charts import bars_panel, graph_panel
from dashboards.boards.fields import Words
from dashboards.boards.panels import stat_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import EXPORTER, KEY, MANY
from dashboards.boards.tables import Column, Label, table_panel
from dashboards.boards.watching import watching

STREAM, GROUP, LETTERS = MANY.stream, MANY.group, MANY.letters
IN_GROUP: Final = 'group=~".+"'
SEVERITIES: Final[Words] = {
    "critical": ("critical", colours.CRITICAL),
    "warning": ("warning", colours.WARN),
    "info": ("info", colours.NOTICE),
}


def overview() -> Board:
    """The board to open first."""
    return Board(
        uid=links.OVERVIEW,
        title="Overview",
        description="Is anything wrong with the streams, where, and how much work waits? Red needs you now,"
        " orange today. Click a stream for its own board.",
        variables=(*variables.exporter(), *variables.streams()),
        sections=(
            Section("Now", (evenly(4, *_now()),)),
            Section(
                "Trouble",
                (line(9, (16, _troubled()), (8, _statuses())), line(7, (16, _alerts()), (8, _letters()))),
            ),
            Section("Work", (evenly(9, _flow(), _time_lags()), evenly(9, _lags(), _pending_ages()))),
            watching(),
        ),
    )


def _now() -> tuple[dashboard.Panel, ...]:
    ranked = (f"{3 - at} * {firing(name)}" for at, name in enumerate(SEVERITIES))
    return (
        stat_panel(
            "Worst alert",
            "The severity of the worst of streamops's alerts that fire now, whatever is chosen above; they stand in the"
            " table below. Needs the rules in Prometheus: without them this stays at none.",
            Query(f"max({' or '.join(ranked)})", "severity"),
            unit="none",
            words={str(3 - at): SEVERITIES[name] for at, name in enumerate(SEVERITIES)},
        ),
        stat_panel(
            "Redis",
            "Whether the exporter could read every Redis it was asked about. Down: look at the exporter's log, which"
            " gives the reason.",
            Query(f"min({EXPORTER('up')})", "up"),
            unit="none",
            steps=colours.UP,
            words={"0": ("down", colours.CRITICAL), "1": ("up", colours.OK)},
            none="no exporter",
        ),
        stat_panel(
            "Groups in trouble",
            "Consumer groups about which the health rules found something. They stand in the table below.",
            Query(f"count(count by ({KEY}) ({GROUP('finding', IN_GROUP)})) or vector(0)", "groups"),
            unit="none",
            steps=colours.ANY_WARN,
        ),
        stat_panel(
            "Highest lag age",
            "How long the entry that has waited longest has waited for its first delivery to a group.",
            Query(f"max({GROUP('group_time_lag_seconds')})", "lag age"),
            unit="s",
            steps=colours.TIME_LAG,
        ),
        stat_panel(
            "Oldest pending entry",
            "Age of the oldest entry that was delivered and is not acknowledged. High: a consumer died, hangs, or"
            " fails at it again and again.",
            Query(f"max({GROUP.age('group_oldest_pending_entry_timestamp_seconds')})", "age"),
            unit="s",
            steps=colours.PENDING_AGE,
        ),
        stat_panel(
            "Dead letters",
            "Entries in dead-letter queues. Look at them: replay or purge.",
            Query(f"sum({LETTERS('dlq_entries')})", "entries"),
            unit="short",
            steps=colours.ANY_NOTICE,
            links=(links.board("Dead letters", links.LETTERS),),
        ),
        stat_panel(
            "Lost in this time",
            "Entries that were trimmed away before a group got them, in the time shown. They are gone: keep more of"
            " the stream, or read faster.",
            Query(f"sum({GROUP.increase('group_lost_entries_total')})", "entries"),
            unit="short",
            steps=colours.ANY_CRITICAL,
            decimals=0,
        ),
        stat_panel(
            "Memory",
            "The fullest server's share of its memory limit. At the limit Redis evicts streams or refuses writes.",
            Query(f"max({memory_share()})", "share"),
            unit="percentunit",
            steps=colours.MEMORY,
            none="no limit",
        ),
    )


def _troubled() -> dashboard.Panel:
    rows = f"max by ({KEY}, code, severity) ({GROUP('finding', IN_GROUP)})"
    column = beside(rows)
    return table_panel(
        "Groups in trouble",
        "One row for each finding about a group. What is critical needs you now. The lag"
        " is the most it can be, where it is not known for certain.",
        (
            Label("instance", "Instance", width=170),
            Label("stream", "Stream", link=links.row_to_stream()),
            Label("group", "Group"),
            Label("code", "Finding", width=130),
            Label("severity", "Severity", words=SEVERITIES, width=90),
        ),
        (
            Column("Pending", column(GROUP("group_pending_entries")), "short", width=90),
            Column("Lag", column(waiting(MANY)), "short", width=90),
            Column("Lag age", column(GROUP("group_time_lag_seconds")), "s", colours.TIME_LAG, width=100),
            Column(
                "Oldest pending",
                column(GROUP.age("group_oldest_pending_entry_timestamp_seconds")),
                "s",
                colours.PENDING_AGE,
                width=130,
            ),
        ),
        by="Lag age",
        none="No group is in trouble",
    )


def _statuses() -> dashboard.Panel:
    return bars_panel(
        "Groups by status",
        "How many groups are in which state. A group may be in several.",
        Query(f"sort_desc(count by (status) ({GROUP('group_status')} == 1))", "{{status}}"),
        unit="none",
        colours=colours.STATUS_COLOURS,
        none="no groups",
    )


def _alerts() -> dashboard.Panel:
    labels = "alertname, code, severity, instance, stream, group, handler, pool"
    return table_panel(
        "Firing alerts",
        "What fires now, whatever is chosen above; dashboards/RUNBOOKS.md says what to do about each alert and code. Needs the"
        " rules in Prometheus.",
        (
            Label("severity", "Severity", words=SEVERITIES, width=90),
            Label("alertname", "Alert"),
            Label("code", "Code"),
            Label("instance", "Instance"),
            Label("stream", "Stream", link=links.row_to_stream()),
            Label("group", "Group"),
            Label("handler", "Handler"),
            Label("pool", "Pool"),
        ),
        (Column("Series", f"count by ({labels}) ({FIRING})", "none", width=80),),
        # In the alphabet, critical comes first.
        by="Severity",
        upwards=True,
        none="No alert fires",
    )


def _letters() -> dashboard.Panel:
    return bars_panel(
        "Dead letters by stream",
        "The ten fullest dead-letter queues, by the stream that their entries come from.",
        Query(f"topk(10, sum by (source) ({LETTERS('dlq_entries')}) > 0)", "{{source}}"),
        unit="short",
        steps=((None, colours.NOTICE),),
        none="no dead letters",
        links=(links.board("Dead letters", links.LETTERS),),
    )


def _flow() -> dashboard.Panel:
    return graph_panel(
        "Added and acknowledged",
        "Entries a second, all streams and groups together. An entry is work for each group of its stream: as long as"
        " acknowledged keeps up with added, no backlog grows.",
        Query(f"sum({STREAM.rate('stream_entries_added_total')})", "added to streams"),
        Query(f"sum({arriving(MANY)})", "added, per group"),
        Query(f"sum({GROUP.rate('group_delivered_entries_total')})", "delivered"),
        Query(f"sum({GROUP.rate('group_acked_entries_total')})", "acknowledged"),
        unit="cps",
        bounds=("added to streams",),
    )


def _time_lags() -> dashboard.Panel:
    return graph_panel(
        "Lag age: the ten furthest behind",
        "How long the first entry not yet delivered has waited. Rising in a straight line: nothing is delivered.",
        Query(f"topk(10, {by_group(GROUP('group_time_lag_seconds'))})", "{{stream}} / {{group}}"),
        unit="s",
        steps=colours.TIME_LAG,
        links=(links.line_to_stream(),),
    )


def _lags() -> dashboard.Panel:
    return graph_panel(
        "Lag: the ten with most to read",
        "Entries not yet delivered to the group; where that is not known for certain, the most it can be.",
        Query(f"topk(10, {by_group(waiting(MANY))})", "{{stream}} / {{group}}"),
        unit="short",
        links=(links.line_to_stream(),),
    )


def _pending_ages() -> dashboard.Panel:
    age = GROUP.age("group_oldest_pending_entry_timestamp_seconds")
    return graph_panel(
        "Oldest pending entry: the ten oldest",
        "Age of the oldest entry that was delivered and is not acknowledged.",
        Query(f"topk(10, {by_group(age)})", "{{stream}} / {{group}}"),
        unit="s",
        steps=colours.PENDING_AGE,
        none="nothing is pending",
        links=(links.line_to_stream(),),
    )
