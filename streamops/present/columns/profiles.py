"""The distribution of pending entries: what ``pending summary`` shows."""

from typing import Final

from streamops.present.cells import count_cell
from streamops.present.rows import ProfileRow
from streamops.present.table import Align, Cell, Column
from streamops.present.units import percent

PROFILE_COLUMNS: Final[tuple[Column[ProfileRow], ...]] = (
    Column(
        key="measure",
        title="MEASURE",
        help="What the entries are counted by: idle time or deliveries.",
        source="a scan of XPENDING, page by page",
        cell=lambda row: Cell(row.measure),
        value=lambda row: row.measure,
        width=10,
        priority=0,
    ),
    Column(
        key="bucket",
        title="UP TO",
        help="The upper end of the bucket, inclusive; it begins where the one before ends.",
        source="a scan of XPENDING, page by page",
        cell=lambda row: Cell(row.bucket),
        value=lambda row: row.bucket,
        width=10,
        align=Align.RIGHT,
        priority=0,
    ),
    Column(
        key="entries",
        title="ENTRIES",
        help="Pending entries in the bucket, of those that were scanned.",
        source="a scan of XPENDING, page by page",
        cell=lambda row: count_cell(row.entries),
        value=lambda row: row.entries,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="share",
        title="SHARE",
        help="The bucket's share of the entries that were scanned.",
        source="a scan of XPENDING, page by page",
        cell=lambda row: Cell(percent(row.share)),
        value=lambda row: round(row.share, 4),
        width=6,
        align=Align.RIGHT,
        descending=True,
    ),
)
