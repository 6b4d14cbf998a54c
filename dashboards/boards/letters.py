"""Dead letters and delayed messages: what was given up, what is overdue, what is about to be given up."""

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours, links, variables
from dashboards.boards.asking import by_group
from dashboards.boards.board import Board, Section, evenly, line
from dashboards.boards.charts import graph_panel
from dashboards.boards.delayed import OVERDUE, delayed
from dashboards.boards.panels import stat_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import KEY, MANY, QUEUE
from dashboards.boards.tables import Column, Label, table_panel

GROUP, LETTERS, WORKER = MANY.group, MANY.letters, MANY.worker
LETTER_KEY = "instance, db, stream, source"


def letters() -> Board:
    """The board of what did not go well, and of what is to come."""
    return Board(
        uid=links.LETTERS,
        title="Dead letters and delayed",
        description="What handlers gave up, where it lies and since when; what is delayed and whether it is moved in"
        " time; and entries that are delivered so often that they will be given up next.",
        variables=(*variables.exporter(), *variables.letters(), *variables.workers()),
        sections=(
            Section("Now", (evenly(4, *_now()),)),
            Section(
                "Dead letters",
                (line(8, (14, _queues()), (10, _entries())), evenly(8, _added(), _reasons())),
            ),
            delayed(),
            Section(
                "About to be given up",
                (line(8, (12, _poison()), (12, _deliveries())), evenly(8, _retries(), _failures())),
            ),
        ),
    )


def _now() -> tuple[dashboard.Panel, ...]:
    return (
        stat_panel(
            "Dead letters",
            "Entries in dead-letter queues. Look at them: streamops dlq show, replay or purge.",
            Query(f"sum({LETTERS('dlq_entries')})", "entries"),
            unit="short",
            steps=colours.ANY_NOTICE,
        ),
        stat_panel(
            "Added in this time",
            "Entries added to dead-letter queues in the time shown.",
            Query(f"sum({LETTERS.increase('dlq_entries_added_total')})", "entries"),
            unit="short",
            steps=colours.ANY_WARN,
            decimals=0,
        ),
        stat_panel(
            "Oldest dead letter",
            "How long the oldest dead letter has been lying there.",
            Query(f"max({LETTERS.age('dlq_oldest_timestamp_seconds')})", "age"),
            unit="s",
        ),
        stat_panel(
            "Delayed",
            "Messages that wait for their time.",
            Query(f"sum({QUEUE('delayed_entries')})", "messages"),
            unit="short",
            trend=True,
        ),
        stat_panel(
            "Due now",
            "Delayed messages whose time has come and that are not moved to their stream yet. Workers do that:"
            " see whether one is running.",
            Query(f"sum({QUEUE('delayed_due_entries')})", "messages"),
            unit="short",
            steps=colours.ANY_NOTICE,
        ),
        stat_panel(
            "Longest overdue",
            "How long the first due message has been due. More than a minute: no worker moves them.",
            Query(f"max(clamp_min({OVERDUE}, 0))", "overdue"),
            unit="s",
            steps=colours.OVERDUE,
        ),
        stat_panel(
            "Most deliveries",
            "How often the oldest pending entry of a group was delivered, at most. High: it takes its consumers down,"
            " or fails every time.",
            Query(f"max({GROUP('group_oldest_pending_deliveries')})", "deliveries"),
            unit="none",
            steps=colours.DELIVERIES,
            none="none pending",
        ),
        stat_panel(
            "Given up a minute",
            "Entries that handlers give up a minute.",
            Query(f"60 * sum({WORKER.rate('dead_lettered_total')})", "entries"),
            unit="cpm",
            steps=((None, colours.OK), (0.001, colours.WARN)),
            none="none",
        ),
    )


def _queues() -> dashboard.Panel:
    return table_panel(
        "Dead-letter queues",
        "Where dead letters lie, which stream they come from, how many came in the time shown, and for how long the"
        " oldest has been there.",
        (
            Label("instance", "Instance", width=160),
            Label("source", "From stream", link=links.row_to_stream("source", group=False)),
            Label("stream", "Queue", link=links.row_to_stream(group=False)),
        ),
        (
            Column(
                "Entries",
                f"max by ({LETTER_KEY}) ({LETTERS('dlq_entries')})",
                "short",
                colours.ANY_NOTICE,
                width=90,
            ),
            Column(
                "Added",
                f"max by ({LETTER_KEY}) ({LETTERS.increase('dlq_entries_added_total')})",
                "short",
                colours.ANY_WARN,
                width=90,
                decimals=0,
            ),
            Column(
                "Oldest",
                f"max by ({LETTER_KEY}) ({LETTERS.age('dlq_oldest_timestamp_seconds')})",
                "s",
                width=100,
            ),
        ),
        by="Entries",
        none="There is no dead-letter queue",
    )


def _entries() -> dashboard.Panel:
    return graph_panel(
        "Dead letters by stream",
        "Entries in dead-letter queues, by the stream they come from: the ten fullest.",
        Query(f"topk(10, sum by (instance, source) ({LETTERS('dlq_entries')}))", "{{source}}"),
        unit="short",
        none="no dead letters",
        links=(links.line_to_stream("source", group=False),),
    )


def _added() -> dashboard.Panel:
    return graph_panel(
        "Dead letters added",
        "Entries a second that come into dead-letter queues, by the stream they come from, streamops or other programs.",
        Query(f"sum by (instance, source) ({LETTERS.rate('dlq_entries_added_total')})", "{{source}}"),
        unit="cps",
        none="no dead letters",
        links=(links.line_to_stream("source", group=False),),
    )


def _reasons() -> dashboard.Panel:
    return graph_panel(
        "Given up, by reason",
        "Entries a second that workers of streamops give up. Needs Prometheus to scrape the workers.",
        Query(f"sum by (stream, reason) ({WORKER.rate('dead_lettered_total')})", "{{stream}}: {{reason}}"),
        unit="cps",
        none="nothing was given up",
    )


def _poison() -> dashboard.Panel:
    most = f"topk(20, {by_group(GROUP('group_oldest_pending_deliveries'))})"
    aged = f"{by_group(GROUP.age('group_oldest_pending_entry_timestamp_seconds'))} and on ({KEY}) {most}"
    return table_panel(
        "Entries delivered most often",
        "The oldest pending entry of a group, and how often it was delivered: the twenty most. More than ten: it will"
        " not succeed by itself.",
        (
            Label("instance", "Instance", width=160),
            Label("stream", "Stream", link=links.row_to_stream()),
            Label("group", "Group"),
        ),
        (
            Column("Deliveries", most, "none", colours.DELIVERIES, width=100),
            Column("Age", aged, "s", colours.PENDING_AGE, width=110),
        ),
        by="Deliveries",
        none="Nothing is pending",
    )


def _deliveries() -> dashboard.Panel:
    return graph_panel(
        "Deliveries of the oldest pending entry",
        "The ten groups whose oldest pending entry was delivered most often.",
        Query(f"topk(10, {by_group(GROUP('group_oldest_pending_deliveries'))})", "{{stream}} / {{group}}"),
        unit="none",
        steps=colours.DELIVERIES,
        none="nothing is pending",
        links=(links.line_to_stream(),),
    )


def _retries() -> dashboard.Panel:
    return graph_panel(
        "Tried again",
        "Entries a second that handlers try again, by the reason.",
        Query(f"sum by (stream, reason) ({WORKER.rate('retries_total')})", "{{stream}}: {{reason}}"),
        unit="cps",
        none="nothing was tried again",
    )


def _failures() -> dashboard.Panel:
    return graph_panel(
        "Failing calls",
        "Calls of handlers that raised, a second.",
        Query(
            f"sum by (stream, group, handler) ({WORKER.rate('handler_failures_total')})",
            "{{handler}}: {{stream}} / {{group}}",
        ),
        unit="cps",
        none="no calls",
        links=(links.line_to_stream(instance=False),),
    )
