"""Consumers: what ``consumers ls`` shows."""

from typing import Final

from streamops.present.cells import NAME_WIDTH, NOT_THERE, count_cell, duration_cell, name_cell, seconds
from streamops.present.rows import ConsumerRow
from streamops.present.table import Align, Column

CONSUMER_COLUMNS: Final[tuple[Column[ConsumerRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream's key.",
        source="SCAN TYPE stream, or the names in the configuration",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=NAME_WIDTH,
        flexible=True,
        priority=3,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The consumer group.",
        source="XINFO GROUPS name",
        cell=lambda row: name_cell(row.group),
        value=lambda row: row.group,
        width=14,
        flexible=True,
        priority=2,
    ),
    Column(
        key="consumer",
        title="CONSUMER",
        help="The consumer's name.",
        source="XINFO CONSUMERS name",
        cell=lambda row: name_cell(row.consumer.name),
        value=lambda row: row.consumer.name,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="pending",
        title="PENDING",
        help="Entries delivered to the consumer and not acknowledged yet.",
        source="XINFO CONSUMERS pending",
        cell=lambda row: count_cell(row.consumer.pending),
        value=lambda row: row.consumer.pending,
        width=8,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="idle_seconds",
        title="IDLE",
        help=(
            "Time since the consumer last asked (Redis 7.2 and later) or last got an entry (before); it grows while a "
            "blocking read waits, and acknowledging does not reset it."
        ),
        source="XINFO CONSUMERS idle",
        cell=lambda row: duration_cell(row.consumer.idle),
        value=lambda row: seconds(row.consumer.idle),
        width=7,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="inactive_seconds",
        title="INACTIVE",
        help="Time since the consumer last got an entry (Redis 7.2 and later); a dash where it never did or the server is older.",
        source="XINFO CONSUMERS inactive (Redis 7.2 and later)",
        cell=lambda row: NOT_THERE if row.consumer.inactive is None else duration_cell(row.consumer.inactive),
        value=lambda row: seconds(row.consumer.inactive),
        width=8,
        align=Align.RIGHT,
        priority=1,
        descending=True,
    ),
)
