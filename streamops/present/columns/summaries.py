"""Pending entries of one group as a whole: what ``pending summary`` shows first."""

from typing import Final

from streamops.present.cells import NAME_WIDTH, count_cell, id_cell, id_text, name_cell
from streamops.present.rows import OwnerRow, SummaryRow
from streamops.present.table import Align, Column

SUMMARY_COLUMNS: Final[tuple[Column[SummaryRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream's key.",
        source="the stream asked for",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=NAME_WIDTH,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The consumer group.",
        source="XINFO GROUPS name",
        cell=lambda row: name_cell(row.group),
        value=lambda row: row.group,
        width=NAME_WIDTH,
    ),
    Column(
        key="pending",
        title="PENDING",
        help="Entries delivered to consumers of the group and not acknowledged yet.",
        source="XPENDING",
        cell=lambda row: count_cell(row.pending),
        value=lambda row: row.pending,
        width=9,
        align=Align.RIGHT,
    ),
    Column(
        key="smallest_id",
        title="SMALLEST ID",
        help="The smallest pending ID; a dash where nothing is pending.",
        source="XPENDING",
        cell=lambda row: id_cell(row.smallest_id),
        value=lambda row: id_text(row.smallest_id),
        width=20,
    ),
    Column(
        key="greatest_id",
        title="GREATEST ID",
        help="The greatest pending ID; a dash where nothing is pending.",
        source="XPENDING",
        cell=lambda row: id_cell(row.greatest_id),
        value=lambda row: id_text(row.greatest_id),
        width=20,
    ),
    Column(
        key="consumers",
        title="CONSUMERS",
        help="Consumers that have pending entries.",
        source="XPENDING",
        cell=lambda row: count_cell(row.consumers),
        value=lambda row: row.consumers,
        width=9,
        align=Align.RIGHT,
    ),
)

OWNER_COLUMNS: Final[tuple[Column[OwnerRow], ...]] = (
    Column(
        key="consumer",
        title="CONSUMER",
        help="A consumer that has pending entries.",
        source="XPENDING",
        cell=lambda row: name_cell(row.consumer),
        value=lambda row: row.consumer,
        width=NAME_WIDTH,
        priority=0,
    ),
    Column(
        key="pending",
        title="PENDING",
        help="How many.",
        source="XPENDING",
        cell=lambda row: count_cell(row.pending),
        value=lambda row: row.pending,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
)
