"""Jobs: what ``jobs show`` tells besides."""

from typing import Final

from streamops.model.acting import Job
from streamops.present.cells import NOT_THERE, count_cell, name_cell
from streamops.present.table import Align, Cell, Column
from streamops.present.units import rfc3339, timestamp

JOB_DETAIL_COLUMNS: Final[tuple[Column[Job], ...]] = (
    Column(
        key="skipped",
        title="SKIPPED",
        help="Units skipped because they had changed meanwhile.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: count_cell(row.skipped),
        value=lambda row: row.skipped,
        width=9,
        align=Align.RIGHT,
    ),
    Column(
        key="failed",
        title="FAILED",
        help="Units that could not be done.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: count_cell(row.failed),
        value=lambda row: row.failed,
        width=9,
        align=Align.RIGHT,
    ),
    Column(
        key="cursor",
        title="CURSOR",
        help="Progress, as its operation reports it.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: name_cell(row.cursor) if row.cursor else NOT_THERE,
        value=lambda row: row.cursor or None,
        width=20,
    ),
    Column(
        key="rate",
        title="RATE LIMIT",
        help="At most this many units a second; a dash where there is no limit.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: NOT_THERE if row.rate is None else Cell(f"{row.rate:g}/s"),
        value=lambda row: row.rate,
        width=10,
        align=Align.RIGHT,
    ),
    Column(
        key="cancelling",
        title="CANCELLING",
        help="Whether somebody asked it to stop.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: Cell("yes" if row.cancelling else "no"),
        value=lambda row: row.cancelling,
        width=10,
    ),
    Column(
        key="created_at",
        title="BEGAN",
        help="When it began.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: Cell(timestamp(row.created_at)),
        value=lambda row: None if row.created_at is None else rfc3339(row.created_at),
        width=20,
    ),
    Column(
        key="audit_id",
        title="AUDIT ID",
        help="Its action in the audit log.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: name_cell(row.audit_id) if row.audit_id else NOT_THERE,
        value=lambda row: row.audit_id or None,
        width=18,
    ),
)
