"""Pending entries: what ``pending ls`` shows."""

from typing import Final

from streamops.resources.cells import (
    NAME_WIDTH,
    duration_cell,
    idle_cell,
    idle_seconds,
    seconds,
)
from streamops.resources.columns.kinds import of_rows
from streamops.resources.rows import PendingRow
from streamops.resources.table import Align, Cell, Column, Tone


def _age(row: PendingRow) -> Cell:
    return Cell("unavailable", Tone.UNKNOWN) if row.age is None else duration_cell(row.age)


PENDING = of_rows(PendingRow)

PENDING_COLUMNS: Final[tuple[Column[PendingRow], ...]] = (
    PENDING.id("id", "ID", 20, lambda row: row.entry.id, priority=0).means(
        "The entry's ID; the entry itself may be gone from the stream.", "XPENDING, the row's ID"
    ),
    PENDING.column(
        "age_seconds", "AGE", 11, lambda row: seconds(row.age), _age, align=Align.RIGHT, descending=True
    ).means(
        "Time since the entry was produced, by its ID and the server's clock; unavailable where the ID is no time.",
        "TIME, minus the time in the ID",
    ),
    PENDING.column(
        "idle_seconds",
        "IDLE",
        7,
        lambda row: idle_seconds(row.entry),
        lambda row: idle_cell(row.entry),
        align=Align.RIGHT,
        descending=True,
        rank=lambda row: row.entry.idle,
        priority=0,
    ).means(
        "Time since the entry was last delivered or claimed; free where it was given back, for any consumer to take.",
        "XPENDING, the row's idle time",
    ),
    PENDING.count("deliveries", "DELIVERIES", 10, lambda row: row.entry.delivery_count, priority=0).means(
        "How often the server counted a delivery; history reads and claims count too, a failover may lower it.",
        "XPENDING, the row's delivery count",
    ),
    PENDING.text(
        "consumer", "CONSUMER", NAME_WIDTH, lambda row: row.entry.consumer, flexible=True, priority=0
    ).means("The entry's owner.", "XPENDING, the row's consumer"),
)
