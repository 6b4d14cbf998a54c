"""The distribution of pending entries: what ``pending summary`` shows."""

from typing import Final

from streamops.resources.columns.kinds import of_rows
from streamops.resources.rows import ProfileRow
from streamops.resources.table import Align, Column

PROFILE = of_rows(ProfileRow, "a scan of XPENDING, page by page")

PROFILE_COLUMNS: Final[tuple[Column[ProfileRow], ...]] = (
    PROFILE.text("measure", "MEASURE", 10, lambda row: row.measure, priority=0).means(
        "What the entries are counted by: idle time or deliveries."
    ),
    PROFILE.text("bucket", "UP TO", 10, lambda row: row.bucket, align=Align.RIGHT, priority=0).means(
        "The upper end of the bucket, inclusive; it begins where the one before ends."
    ),
    PROFILE.count("entries", "ENTRIES", 9, lambda row: row.entries, priority=0).means(
        "Pending entries in the bucket, of those that were scanned."
    ),
    PROFILE.share("share", "SHARE", 6, lambda row: row.share).means(
        "The bucket's share of the entries that were scanned."
    ),
)
