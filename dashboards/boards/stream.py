"""One stream and its groups: who is behind, by how much, and how long until something is lost."""

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours, links, variables
from dashboards.boards.asking import by_group, drain, retention_used
from dashboards.boards.board import Board, Section, evenly, line
from dashboards.boards.charts import graph_panel, timeline_panel
from dashboards.boards.panels import stat_panel
from dashboards.boards.queries import Query
from dashboards.boards.retention import retention
from dashboards.boards.scopes import ONE
from dashboards.boards.tables import Column, Label, table_panel

STREAM, GROUP, LETTERS = ONE.stream, ONE.group, ONE.letters


def stream() -> Board:
    """The board of one stream."""
    return Board(
        uid=links.STREAM,
        title="Stream",
        description="One stream and its consumer groups: who is behind, by how much, since when, and whether the"
        " stream is trimmed before they get there. Choose the stream above.",
        variables=(*variables.exporter(), *variables.one_stream()),
        sections=(
            Section("Now", (evenly(4, *_now()),)),
            Section("Groups", (line(8, (24, _groups())), line(7, (24, _timeline())))),
            Section(
                "Delivery",
                (evenly(9, _rates(), _lag()), evenly(8, _time_lag(), _drain(), _rewinds())),
            ),
            Section("Pending", (evenly(8, _pending(), _pending_age(), _deliveries()),)),
            retention(),
        ),
    )


def _now() -> tuple[dashboard.Panel, ...]:
    return (
        stat_panel(
            "Length",
            "Entries in the stream now.",
            Query(f"sum({STREAM('stream_length')})", "entries"),
            unit="short",
            none="no such stream",
            trend=True,
        ),
        stat_panel(
            "Added",
            "Entries added to the stream a second.",
            Query(f"sum({STREAM.rate('stream_entries_added_total')})", "added"),
            unit="cps",
            trend=True,
        ),
        stat_panel(
            "Retention window",
            "Age of the oldest entry still in the stream. A group that is further behind has lost entries.",
            Query(f"max({STREAM.age('stream_first_entry_timestamp_seconds')})", "age"),
            unit="s",
            none="empty",
        ),
        stat_panel(
            "Highest lag age",
            "How long the first entry not yet delivered has waited, in the group that is furthest behind.",
            Query(f"max({GROUP('group_time_lag_seconds')})", "lag age"),
            unit="s",
            steps=colours.TIME_LAG,
            none="no group",
        ),
        stat_panel(
            "Oldest pending entry",
            "Age of the oldest entry that was delivered to a group and is not acknowledged.",
            Query(f"max({GROUP.age('group_oldest_pending_entry_timestamp_seconds')})", "age"),
            unit="s",
            steps=colours.PENDING_AGE,
            none="none pending",
        ),
        stat_panel(
            "Retention used",
            "The share of the stream that the furthest group has still to read. Where the stream is trimmed, that group loses"
            " entries at 100 %.",
            Query(f"max({retention_used(ONE)})", "share"),
            unit="percentunit",
            steps=colours.RETENTION,
            none="not known",
        ),
        stat_panel(
            "Dead letters",
            "Entries of this stream in its dead-letter queue.",
            Query(f"sum({LETTERS('dlq_entries')})", "entries"),
            unit="short",
            steps=colours.ANY_NOTICE,
            links=(links.board("Dead letters", links.LETTERS),),
        ),
        stat_panel(
            "Lost in this time",
            "Entries that were trimmed away before a group got them, in the time shown.",
            Query(f"sum({GROUP.increase('group_lost_entries_total')})", "entries"),
            unit="short",
            steps=colours.ANY_CRITICAL,
            decimals=0,
        ),
    )


def _groups() -> dashboard.Panel:
    shown = (
        ("Lag", GROUP("group_lag_entries"), "short", ()),
        ("At most", GROUP("group_lag_upper_bound_entries"), "short", ()),
        ("Lag age", GROUP("group_time_lag_seconds"), "s", colours.TIME_LAG),
        ("Drained in", drain(ONE), "s", colours.DRAIN),
        ("Delivered/s", GROUP.rate("group_delivered_entries_total"), "cps", ()),
        ("Acked/s", GROUP.rate("group_acked_entries_total"), "cps", ()),
        ("Pending", GROUP("group_pending_entries"), "short", ()),
        (
            "Oldest pending",
            GROUP.age("group_oldest_pending_entry_timestamp_seconds"),
            "s",
            colours.PENDING_AGE,
        ),
        ("Deliveries", GROUP("group_oldest_pending_deliveries"), "none", colours.DELIVERIES),
        ("Dangling", GROUP("group_dangling_pending_entries"), "short", colours.ANY_CRITICAL),
        ("Lost at most", GROUP("group_lost_upper_bound_entries"), "short", ()),
        ("Last delivered", GROUP.age("group_last_delivered_timestamp_seconds"), "s", ()),
        ("Consumers", GROUP("group_consumers"), "none", ()),
        ("Active", GROUP("group_active_consumers"), "none", ((None, colours.CRITICAL), (1, colours.OK))),
    )
    return table_panel(
        "Groups",
        "Everything about each group now. Lag: entries not yet delivered, empty where that is not known for certain."
        " At most: the most it can be. Drained in: how long until it has caught up, empty while it does not."
        " Deliveries: how often its oldest pending entry was delivered. Dangling: pending entries, at"
        " the least, that are gone from the stream. Lost at most: entries that may have been trimmed away before the group"
        " got them, ever. Last delivered: age of the entry at its position. Active: consumers seen within a minute.",
        (Label("instance", "Instance", width=160), Label("group", "Group")),
        tuple(Column(title, by_group(expr), unit, steps) for title, expr, unit, steps in shown),
        by="Lag age",
        none="No group reads this stream",
        hidden=("stream",),
    )


def _timeline() -> dashboard.Panel:
    return timeline_panel(
        "Status",
        "What the health rules found about each group, and for how long. ok and unknown stand here as well.",
        Query(f"max by (group, status) ({GROUP('group_status')} == 1)", "{{group}}: {{status}}"),
        endings=colours.STATUS_COLOURS,
        none="no group",
    )


def _rates() -> dashboard.Panel:
    return graph_panel(
        "Added, delivered, acknowledged",
        "Entries a second. Delivered below added: the group falls behind. Acknowledged below delivered: entries stay"
        " pending.",
        Query(f"sum({STREAM.rate('stream_entries_added_total')})", "added"),
        Query(f"sum by (group) ({GROUP.rate('group_delivered_entries_total')})", "{{group}} delivered"),
        Query(f"sum by (group) ({GROUP.rate('group_acked_entries_total')})", "{{group}} acknowledged"),
        unit="cps",
        bounds=("added",),
    )


def _lag() -> dashboard.Panel:
    unknown = f"{GROUP('group_lag_upper_bound_entries')} and on (job, instance, db, stream, group) ({GROUP('group_lag_known')} == 0)"
    return graph_panel(
        "Lag",
        "Entries not yet delivered. Where their number is not known for certain, the most it can be.",
        Query(by_group(GROUP("group_lag_entries")), "{{group}}"),
        Query(by_group(unknown), "{{group}}, at most"),
        unit="short",
    )


def _time_lag() -> dashboard.Panel:
    return graph_panel(
        "Lag age",
        "How long the first entry not yet delivered has waited.",
        Query(by_group(GROUP("group_time_lag_seconds")), "{{group}}"),
        unit="s",
        steps=colours.TIME_LAG,
    )


def _drain() -> dashboard.Panel:
    return graph_panel(
        "Time to drain",
        "How long until the group has read all there is, if things go on as they do; at most, where its lag is not known"
        " for certain. No line: it is not catching up.",
        Query(by_group(drain(ONE)), "{{group}}"),
        unit="s",
        steps=colours.DRAIN,
        none="no group is catching up",
    )


def _rewinds() -> dashboard.Panel:
    return graph_panel(
        "Set back",
        "How often the group's position was found to have moved back. What lies after it is delivered again: it was set"
        " back, or the group was made anew.",
        Query(f"sum by (group) (increase({GROUP('group_rewinds_total')}[$__rate_interval]))", "{{group}}"),
        unit="none",
    )


def _pending() -> dashboard.Panel:
    return graph_panel(
        "Pending",
        "Entries delivered to the group and not acknowledged.",
        Query(by_group(GROUP("group_pending_entries")), "{{group}}"),
        unit="short",
    )


def _pending_age() -> dashboard.Panel:
    entry = GROUP.age("group_oldest_pending_entry_timestamp_seconds")
    delivered = GROUP.age("group_oldest_pending_delivered_timestamp_seconds")
    return graph_panel(
        "Oldest pending entry",
        "How old it is, and how long ago it was last delivered. Old but just delivered: it is tried again and again.",
        Query(by_group(entry), "{{group}}: age"),
        Query(by_group(delivered), "{{group}}: since delivery"),
        unit="s",
        steps=colours.PENDING_AGE,
        none="nothing is pending",
    )


def _deliveries() -> dashboard.Panel:
    return graph_panel(
        "Deliveries of the oldest pending entry",
        "How often it was delivered. Rising: an entry that no consumer can handle.",
        Query(by_group(GROUP("group_oldest_pending_deliveries")), "{{group}}"),
        unit="none",
        steps=colours.DELIVERIES,
        none="nothing is pending",
    )
