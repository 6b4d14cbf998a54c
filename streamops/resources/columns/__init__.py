"""The columns of every table, with what each number means; screens, commands and docs read them here."""

from streamops.resources.columns.audit import AUDIT_COLUMNS
from streamops.resources.columns.consumers import CONSUMER_COLUMNS
from streamops.resources.columns.dead_letters import (
    DEAD_LETTER_COLUMNS,
    DEAD_LETTER_DETAIL_COLUMNS,
    DEAD_LETTER_QUEUE_COLUMNS,
    REASON_COLUMNS,
)
from streamops.resources.columns.delayed import (
    DELAYED_COLUMNS,
    DELAYED_DETAIL_COLUMNS,
    DELAYED_QUEUE_COLUMNS,
    FIELD_COLUMNS,
)
from streamops.resources.columns.entries import ENTRY_COLUMNS
from streamops.resources.columns.findings import FINDING_COLUMNS
from streamops.resources.columns.groups import GROUP_COLUMNS, GROUP_DETAIL_COLUMNS
from streamops.resources.columns.jobs import JOB_COLUMNS, JOB_DETAIL_COLUMNS
from streamops.resources.columns.pending import PENDING_COLUMNS
from streamops.resources.columns.plans import OUTCOME_COLUMNS, PLAN_COLUMNS
from streamops.resources.columns.profiles import PROFILE_COLUMNS
from streamops.resources.columns.streams import STREAM_COLUMNS, STREAM_DETAIL_COLUMNS
from streamops.resources.columns.summaries import OWNER_COLUMNS, SUMMARY_COLUMNS

__all__ = [
    "AUDIT_COLUMNS",
    "CONSUMER_COLUMNS",
    "DEAD_LETTER_COLUMNS",
    "DEAD_LETTER_DETAIL_COLUMNS",
    "DEAD_LETTER_QUEUE_COLUMNS",
    "DELAYED_COLUMNS",
    "DELAYED_DETAIL_COLUMNS",
    "DELAYED_QUEUE_COLUMNS",
    "ENTRY_COLUMNS",
    "FIELD_COLUMNS",
    "FINDING_COLUMNS",
    "GROUP_COLUMNS",
    "GROUP_DETAIL_COLUMNS",
    "JOB_COLUMNS",
    "JOB_DETAIL_COLUMNS",
    "OUTCOME_COLUMNS",
    "OWNER_COLUMNS",
    "PENDING_COLUMNS",
    "PLAN_COLUMNS",
    "PROFILE_COLUMNS",
    "REASON_COLUMNS",
    "STREAM_COLUMNS",
    "STREAM_DETAIL_COLUMNS",
    "SUMMARY_COLUMNS",
]
