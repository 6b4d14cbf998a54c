"""The section about delayed messages: what waits, and what is overdue."""

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours
from dashboards.boards.board import Section, line
from dashboards.boards.charts import graph_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import QUEUE
from dashboards.boards.tables import Column, Label, table_panel

QUEUE_KEY = "instance, db, queue"
OVERDUE = QUEUE.age("delayed_next_due_timestamp_seconds")


def delayed() -> Section:
    """What waits for its time, and whether it is moved when that comes."""
    return Section("Delayed messages", (line(8, (8, _delayed_table()), (8, _delayed()), (8, _overdue())),))


def _delayed_table() -> dashboard.Panel:
    return table_panel(
        "Delayed queues",
        "How many messages wait, how many of them are due, how many members another program "
        "wrote, and when the next one is: minus, how long it is overdue.",
        (Label("instance", "Instance", width=140), Label("queue", "Queue")),
        (
            Column("Waiting", f"max by ({QUEUE_KEY}) ({QUEUE('delayed_entries')})", "short", width=80),
            Column(
                "Due",
                f"max by ({QUEUE_KEY}) ({QUEUE('delayed_due_entries')})",
                "short",
                colours.ANY_NOTICE,
                width=60,
            ),
            Column(
                "Foreign",
                f"max by ({QUEUE_KEY}) ({QUEUE('delayed_foreign_entries')})",
                "short",
                colours.ANY_NOTICE,
                width=80,
            ),
            Column("Next in", f"max by ({QUEUE_KEY}) (-{OVERDUE})", "s", width=90),
        ),
        by="Due",
        none="Nothing is delayed",
    )


def _delayed() -> dashboard.Panel:
    return graph_panel(
        "Delayed and due",
        "Messages that wait for their time, and those of them whose time has come.",
        Query(f"sum({QUEUE('delayed_entries')})", "waiting"),
        Query(f"sum({QUEUE('delayed_due_entries')})", "due"),
        unit="short",
        none="nothing is delayed",
    )


def _overdue() -> dashboard.Panel:
    return graph_panel(
        "Overdue",
        "How long the first due message of each queue has been due; 0 while none is.",
        Query(f"max by ({QUEUE_KEY}) (clamp_min({OVERDUE}, 0))", "{{queue}}"),
        unit="s",
        steps=colours.OVERDUE,
        none="nothing is delayed",
    )
