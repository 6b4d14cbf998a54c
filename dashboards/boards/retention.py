"""The section about how much is kept of a stream, and what that costs."""

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours
from dashboards.boards.asking import by_group, retention_used
from dashboards.boards.board import Section, evenly
from dashboards.boards.charts import graph_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import ONE

STREAM, GROUP = ONE.stream, ONE.group


def retention() -> Section:
    """What is kept, and who has still to read how much of it."""
    return Section(
        "Retention", (evenly(8, _length(), _retention(), _removed()), evenly(7, _span(), _bytes()))
    )


def _length() -> dashboard.Panel:
    return graph_panel(
        "Length",
        "Entries in the stream; dashed, what the retention policy in streamops's configuration keeps, where there is"
        " one.",
        Query(f"sum({STREAM('stream_length')})", "length"),
        Query(f"max({STREAM('stream_max_length')})", "kept by the policy"),
        unit="short",
        bounds=("kept by the policy",),
    )


def _retention() -> dashboard.Panel:
    return graph_panel(
        "Retention used",
        "The share of the stream that each group has still to read. Where the stream is trimmed, a group loses entries at"
        " 100 %.",
        Query(by_group(retention_used(ONE)), "{{group}}"),
        unit="percentunit",
        steps=colours.RETENTION,
    )


def _removed() -> dashboard.Panel:
    return graph_panel(
        "Removed and lost",
        "Entries a second that were trimmed or deleted, and those of them that a group had not got yet.",
        Query(f"sum({STREAM.rate('stream_removed_entries_total')})", "removed"),
        Query(f"sum by (group) ({GROUP.rate('group_lost_entries_total')})", "{{group}} lost"),
        unit="cps",
    )


def _span() -> dashboard.Panel:
    newest, oldest = (
        STREAM("stream_last_generated_timestamp_seconds"),
        STREAM("stream_first_entry_timestamp_seconds"),
    )
    return graph_panel(
        "Span",
        "From the oldest entry to the newest; and how long ago the newest was added, by the time in its ID.",
        Query(f"max({newest} - {oldest})", "oldest to newest"),
        Query(f"max({STREAM.age('stream_last_generated_timestamp_seconds')})", "since the newest"),
        unit="s",
        none="empty",
    )


def _bytes() -> dashboard.Panel:
    return graph_panel(
        "Memory",
        "What the stream takes, as the server estimates it from samples. Read now and then only.",
        Query(f"sum({STREAM('stream_memory_bytes')})", "memory"),
        unit="bytes",
        none="not read yet",
    )
