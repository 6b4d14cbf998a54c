"""Groups: the numbers behind the numbers, for scripts, ``--fields`` and detail panes."""

from typing import Final

from streamops.model.observation import GroupView
from streamops.present.cells import (
    compact_cell,
    count_cell,
    id_cell,
    id_text,
    name_cell,
    rate_cell,
    rounded,
)
from streamops.present.columns.group_cells import group_cell, group_value, oldest_cell, oldest_value
from streamops.present.rows import GroupRow
from streamops.present.table import Align, Cell, Column
from streamops.present.text import safe
from streamops.present.units import compact


def _lost_cell(view: GroupView) -> Cell:
    if view.lost is None and view.lost_at_most is not None:
        return Cell(f"≤{compact(view.lost_at_most)}")
    return compact_cell(view.lost)


GROUP_DETAIL_COLUMNS: Final[tuple[Column[GroupRow], ...]] = (
    Column(
        key="lag_basis",
        title="LAG BASIS",
        help="What the lag rests on: exact, reported, upper, lower, estimated or unknown.",
        source="what LAG rests on",
        cell=group_cell(lambda view: Cell(view.group.lag.basis)),
        value=group_value(lambda view: str(view.group.lag.basis)),
        width=9,
    ),
    Column(
        key="lag_lower",
        title="LAG MIN",
        help="The lag is at least this.",
        source="counting, or what the group's position allows",
        cell=group_cell(lambda view: count_cell(view.group.lag.lower)),
        value=group_value(lambda view: view.group.lag.lower),
        width=9,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="lag_upper",
        title="LAG MAX",
        help="The lag is at most this.",
        source="XINFO GROUPS lag, or XLEN less what was counted",
        cell=group_cell(lambda view: count_cell(view.group.lag.upper)),
        value=group_value(lambda view: view.group.lag.upper),
        width=9,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="lag_reason",
        title="LAG REASON",
        help="Why the lag has that basis.",
        source="what LAG rests on",
        cell=group_cell(lambda view: Cell(safe(view.group.lag.reason))),
        value=group_value(lambda view: view.group.lag.reason),
        width=30,
        flexible=True,
    ),
    Column(
        key="lag_per_second",
        title="LAG GROWTH",
        help="Entries by which the lag grows a second; below zero while the group catches up.",
        source="the lags of the last readings of this console",
        cell=group_cell(lambda view: rate_cell(view.rates.lag_per_second)),
        value=group_value(lambda view: rounded(view.rates.lag_per_second)),
        width=9,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="last_delivered_id",
        title="LAST DELIVERED",
        help="The group's position: entries after this ID are not yet delivered to it.",
        source="XINFO GROUPS last-delivered-id",
        cell=group_cell(lambda view: id_cell(view.group.last_delivered_id)),
        value=group_value(lambda view: id_text(view.group.last_delivered_id)),
        rank=group_value(lambda view: view.group.last_delivered_id),
        width=18,
    ),
    Column(
        key="entries_read",
        title="READ",
        help="The server's logical read counter; ? where it has none.",
        source="XINFO GROUPS entries-read (Redis 7.0 and later)",
        cell=group_cell(lambda view: compact_cell(view.group.entries_read)),
        value=group_value(lambda view: view.group.entries_read),
        width=7,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="oldest_pending_id",
        title="OLDEST ID",
        help="ID of the oldest pending entry.",
        source="XPENDING - + 1",
        cell=oldest_cell(lambda oldest: id_cell(oldest.id)),
        value=oldest_value(lambda oldest: str(oldest.id)),
        rank=oldest_value(lambda oldest: oldest.id),
        width=18,
    ),
    Column(
        key="oldest_pending_consumer",
        title="OWNER",
        help="The consumer that owns the oldest pending entry.",
        source="XPENDING - + 1",
        cell=oldest_cell(lambda oldest: name_cell(oldest.consumer)),
        value=oldest_value(lambda oldest: oldest.consumer),
        width=14,
        flexible=True,
    ),
    Column(
        key="lost",
        title="LOST",
        help="Entries trimmed before they were delivered to the group; an upper bound if some may have been trimmed before "
        "watching began, ? if not known.",
        source="lag and arrivals less deliveries, of two readings; before the first, entries-added less length and entries-read",
        cell=group_cell(_lost_cell),
        value=group_value(lambda view: view.lost),
        width=6,
        align=Align.RIGHT,
        descending=True,
    ),
)
"""What scripts and ``--fields`` can have besides."""
