"""The columns of every table, with what each number means; screens, commands and the README read them here."""

from streamops.present.columns.consumers import CONSUMER_COLUMNS
from streamops.present.columns.entries import ENTRY_COLUMNS
from streamops.present.columns.findings import FINDING_COLUMNS
from streamops.present.columns.group_details import GROUP_DETAIL_COLUMNS
from streamops.present.columns.groups import GROUP_COLUMNS
from streamops.present.columns.pending import PENDING_COLUMNS
from streamops.present.columns.profiles import PROFILE_COLUMNS
from streamops.present.columns.streams import STREAM_COLUMNS, STREAM_DETAIL_COLUMNS
from streamops.present.columns.summaries import OWNER_COLUMNS, SUMMARY_COLUMNS

__all__ = [
    "CONSUMER_COLUMNS",
    "ENTRY_COLUMNS",
    "FINDING_COLUMNS",
    "GROUP_COLUMNS",
    "GROUP_DETAIL_COLUMNS",
    "OWNER_COLUMNS",
    "PENDING_COLUMNS",
    "PROFILE_COLUMNS",
    "STREAM_COLUMNS",
    "STREAM_DETAIL_COLUMNS",
    "SUMMARY_COLUMNS",
]
