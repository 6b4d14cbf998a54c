"""Pending entries of one group as a whole: what ``pending summary`` shows first."""

from typing import Final

from streamops.resources.cells import NAME_WIDTH
from streamops.resources.columns.kinds import of_rows
from streamops.resources.rows import OwnerRow, SummaryRow
from streamops.resources.table import Column

SUMMARY = of_rows(SummaryRow, "XPENDING")
OWNER = of_rows(OwnerRow, "XPENDING")

SUMMARY_COLUMNS: Final[tuple[Column[SummaryRow], ...]] = (
    SUMMARY.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream).means(
        "The stream's key.", "the stream asked for"
    ),
    SUMMARY.text("group", "GROUP", NAME_WIDTH, lambda row: row.group).means(
        "The consumer group.", "XINFO GROUPS name"
    ),
    SUMMARY.count("pending", "PENDING", 9, lambda row: row.pending, descending=False).means(
        "Entries delivered to consumers of the group and not acknowledged yet."
    ),
    SUMMARY.id("smallest_id", "SMALLEST ID", 20, lambda row: row.smallest_id).means(
        "The smallest pending ID; a dash where nothing is pending."
    ),
    SUMMARY.id("greatest_id", "GREATEST ID", 20, lambda row: row.greatest_id).means(
        "The greatest pending ID; a dash where nothing is pending."
    ),
    SUMMARY.count("consumers", "CONSUMERS", 9, lambda row: row.consumers, descending=False).means(
        "Consumers that have pending entries."
    ),
)

OWNER_COLUMNS: Final[tuple[Column[OwnerRow], ...]] = (
    OWNER.text("consumer", "CONSUMER", NAME_WIDTH, lambda row: row.consumer, priority=0).means(
        "A consumer that has pending entries."
    ),
    OWNER.count("pending", "PENDING", 9, lambda row: row.pending, priority=0).means("How many."),
)
