"""Scaling: what controllers decide; by hand, are there enough workers, what would it take, and when is the backlog gone."""

from typing import Final

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours, links, variables
from dashboards.boards.asking import arriving, busy_share, by_group, drain, mean_duration, waiting
from dashboards.boards.board import Board, Section, evenly, line
from dashboards.boards.charts import graph_panel
from dashboards.boards.panels import stat_panel, words_panel
from dashboards.boards.pools import pools_section
from dashboards.boards.queries import Query
from dashboards.boards.scopes import MANY, POOL
from dashboards.boards.tables import Column, Label, table_panel

STREAM, GROUP, WORKER = MANY.stream, MANY.group, MANY.worker
BY: Final = "stream, group"
CATCH_UP_SECONDS: Final = 600

HINT: Final = """\
**Too few workers:** slots are busy, lag or lag age rises, and more slots are needed than there are. Start more \
(`streamops run APP --workers N`), or raise `--concurrency` where handlers mostly wait.

**Busy slots, but nothing waits:** just enough. **Idle slots, but lag rises:** more workers will not help: look for a \
paused pool, a stalled worker, or retries.
"""


def scaling() -> Board:
    """The board of those who decide how many workers there are."""
    return Board(
        uid=links.SCALING,
        title="Autoscaler",
        description="What the controllers of pools decide, and what it takes to decide by hand how many workers there"
        " should be: what there are, how busy they are, what arrives and what is done, and how many slots that needs."
        " What the handlers need is worked out from the workers' own metrics (streamops run --metrics).",
        variables=(*variables.exporter(), *variables.streams(), *variables.pools(), *variables.workers()),
        sections=(
            Section(
                "Now",
                (
                    evenly(4, *_now()),
                    line(3, (24, words_panel("How to read this", "What to do when.", HINT))),
                ),
            ),
            pools_section(),
            Section("Are there enough?", (evenly(9, _slots(), _flow()), line(8, (24, _groups())))),
            Section("Backlog", (evenly(8, _lag(), _time_lag(), _drain()),)),
            Section("Workers", (evenly(8, _workers(), _busy(), _durations()),)),
        ),
    )


def needed(catching_up: float | None = None) -> str:
    """Slots that a group's handlers need: what arrives a second, times how long one takes (Little's law).

    Args:
        catching_up: Seconds within which what waits is to be done as well; none for keeping pace alone.
    """
    work = f"sum by ({BY}) ({arriving(MANY)})"
    if catching_up is not None:
        work = f"({work} + sum by ({BY}) ({waiting(MANY)}) / {catching_up:g})"
    return f"{work} * on ({BY}) ({mean_duration(MANY, BY)})"


def _now() -> tuple[dashboard.Panel, ...]:
    return (
        stat_panel(
            "Worker processes",
            "Processes with a living heartbeat.",
            Query(f"sum({POOL('workers')})", "workers"),
            unit="none",
            trend=True,
        ),
        stat_panel(
            "Slots",
            "What the workers can handle at once.",
            Query(f"sum({POOL('worker_slots')})", "slots"),
            unit="none",
            trend=True,
        ),
        stat_panel(
            "Slots busy",
            "The share of the slots that is taken now.",
            Query(busy_share(), "busy"),
            unit="percentunit",
            steps=colours.BUSY,
            none="no workers",
        ),
        stat_panel(
            "Slots needed",
            "What keeping pace with added entries takes: entries added a second, times the seconds that one takes."
            " Too high for handlers that take batches.",
            Query(f"sum({needed()})", "needed"),
            unit="none",
            decimals=1,
            none="not known",
            trend=True,
        ),
        stat_panel(
            "Waiting",
            "Entries not yet delivered, all groups together; where that is not known for certain, the most it can be.",
            Query(f"sum({waiting(MANY)})", "entries"),
            unit="short",
            trend=True,
        ),
        stat_panel(
            "Highest lag age",
            "How long the first entry not yet delivered has waited, in the group that is furthest behind.",
            Query(f"max({GROUP('group_time_lag_seconds')})", "lag age"),
            unit="s",
            steps=colours.TIME_LAG,
        ),
        stat_panel(
            "Time to drain",
            "How long until the slowest of the groups that are catching up has read all there is.",
            Query(f"max({drain(MANY)})", "drain"),
            unit="s",
            steps=colours.DRAIN,
            none="none catches up",
        ),
        stat_panel(
            "Pools paused",
            "Paused pools. Their workers finish what they have and take nothing more.",
            Query(f"sum({POOL('pool_paused')}) or vector(0)", "pools"),
            unit="none",
            steps=colours.ANY_NOTICE,
        ),
    )


def _slots() -> dashboard.Panel:
    return graph_panel(
        "Slots: there, busy and needed",
        "Dashed, the slots there are. Needed to keep pace: what arrives a second times how long one call takes. Needed"
        f" to catch up: the same, with all that waits done within {CATCH_UP_SECONDS // 60} minutes.",
        Query(f"sum({WORKER('concurrency_limit')})", "there"),
        Query(f"sum({WORKER('in_flight')})", "busy"),
        Query(f"sum({needed()})", "needed to keep pace"),
        Query(f"sum({needed(CATCH_UP_SECONDS)})", "needed to catch up"),
        unit="none",
        bounds=("there",),
        none="no workers",
    )


def _flow() -> dashboard.Panel:
    return graph_panel(
        "Added and acknowledged",
        "Entries a second. Added counts each entry once for each group of its stream. Acknowledged below added for long:"
        " too few workers, or too slow ones.",
        Query(f"sum({arriving(MANY)})", "added, per group"),
        Query(f"sum({GROUP.rate('group_acked_entries_total')})", "acknowledged"),
        unit="cps",
    )


def _groups() -> dashboard.Panel:
    shown = (
        ("Added/s", f"sum by ({BY}) ({arriving(MANY)})", "cps", ()),
        ("Acked/s", f"sum by ({BY}) ({GROUP.rate('group_acked_entries_total')})", "cps", ()),
        ("Lag", f"sum by ({BY}) ({waiting(MANY)})", "short", ()),
        ("Lag age", f"max by ({BY}) ({GROUP('group_time_lag_seconds')})", "s", colours.TIME_LAG),
        ("Time to drain", f"max by ({BY}) ({drain(MANY)})", "s", colours.DRAIN),
        ("One call", mean_duration(MANY, BY), "s", ()),
        ("Slots there", f"sum by ({BY}) ({WORKER('concurrency_limit')})", "none", ()),
        ("Slots busy", f"sum by ({BY}) ({WORKER('in_flight')})", "none", ()),
        ("To keep pace", needed(), "none", ()),
        ("To catch up", needed(CATCH_UP_SECONDS), "none", ()),
    )
    return table_panel(
        "Slots by group",
        "Each group, with what arrives, what is done, and the slots that it has and needs. The columns about slots stay"
        " empty for groups whose workers are not streamops's own, or not scraped.",
        (Label("stream", "Stream"), Label("group", "Group")),
        tuple(
            Column(title, expr, unit, steps, decimals=1 if title.startswith("To ") else None)
            for title, expr, unit, steps in shown
        ),
        by="Lag",
        none="No group",
    )


def _lag() -> dashboard.Panel:
    return graph_panel(
        "Lag: the ten with most to read",
        "Entries not yet delivered to the group; where that is not known for certain, the most it can be.",
        Query(f"topk(10, {by_group(waiting(MANY))})", "{{stream}} / {{group}}"),
        unit="short",
        links=(links.line_to_stream(),),
    )


def _time_lag() -> dashboard.Panel:
    return graph_panel(
        "Lag age: the ten furthest behind",
        "How long the first entry not yet delivered has waited.",
        Query(f"topk(10, {by_group(GROUP('group_time_lag_seconds'))})", "{{stream}} / {{group}}"),
        unit="s",
        steps=colours.TIME_LAG,
        links=(links.line_to_stream(),),
    )


def _drain() -> dashboard.Panel:
    return graph_panel(
        "Time to drain",
        "How long until the group has read all there is, if things go on as they do. No line: it is not catching up.",
        Query(f"topk(10, {by_group(drain(MANY))})", "{{stream}} / {{group}}"),
        unit="s",
        steps=colours.DRAIN,
        none="no group is catching up",
        links=(links.line_to_stream(),),
    )


def _workers() -> dashboard.Panel:
    return graph_panel(
        "Workers by state",
        "Processes with a living heartbeat.",
        Query(f"sum by (state) ({POOL('workers')})", "{{state}}"),
        unit="none",
        colours=colours.STATE_COLOURS,
        stacked=True,
        none="no workers",
    )


def _busy() -> dashboard.Panel:
    return graph_panel(
        "Slots busy, by pool",
        "The share of a pool's slots that is taken. Long above 80 %: it has no reserve.",
        Query(busy_share("pool"), "{{pool}}"),
        unit="percentunit",
        steps=colours.BUSY,
        most=1,
        none="no workers",
    )


def _durations() -> dashboard.Panel:
    return graph_panel(
        "One call takes, on average",
        "If it rises, the same workers do less: look at what the handlers call.",
        Query(mean_duration(MANY, BY), "{{stream}} / {{group}}"),
        unit="s",
        none="no calls",
        links=(links.line_to_stream(instance=False),),
    )
