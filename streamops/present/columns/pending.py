"""Pending entries: what ``pending ls`` shows."""

from typing import Final

from streamops.present.cells import (
    NAME_WIDTH,
    count_cell,
    duration_cell,
    id_cell,
    idle_cell,
    idle_seconds,
    name_cell,
    seconds,
)
from streamops.present.rows import PendingRow
from streamops.present.table import Align, Cell, Column, Tone


def _age(row: PendingRow) -> Cell:
    return Cell("unavailable", Tone.UNKNOWN) if row.age is None else duration_cell(row.age)


PENDING_COLUMNS: Final[tuple[Column[PendingRow], ...]] = (
    Column(
        key="id",
        title="ID",
        help="The entry's ID; the entry itself may be gone from the stream.",
        source="XPENDING, the row's ID",
        cell=lambda row: id_cell(row.entry.id),
        value=lambda row: str(row.entry.id),
        rank=lambda row: row.entry.id,
        width=20,
        priority=0,
    ),
    Column(
        key="age_seconds",
        title="AGE",
        help="Time since the entry was produced, by its ID and the server's clock; unavailable where the ID is no time.",
        source="TIME, minus the time in the ID",
        cell=_age,
        value=lambda row: seconds(row.age),
        width=11,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="idle_seconds",
        title="IDLE",
        help="Time since the entry was last delivered or claimed; free where it was given back, for any consumer to take.",
        source="XPENDING, the row's idle time",
        cell=lambda row: idle_cell(row.entry),
        value=lambda row: idle_seconds(row.entry),
        rank=lambda row: row.entry.idle,
        width=7,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="deliveries",
        title="DELIVERIES",
        help="How often the server counted a delivery; history reads and claims count too, a failover may lower it.",
        source="XPENDING, the row's delivery count",
        cell=lambda row: count_cell(row.entry.delivery_count),
        value=lambda row: row.entry.delivery_count,
        width=10,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="consumer",
        title="CONSUMER",
        help="The entry's owner.",
        source="XPENDING, the row's consumer",
        cell=lambda row: name_cell(row.entry.consumer),
        value=lambda row: row.entry.consumer,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
)
