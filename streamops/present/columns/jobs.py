"""Jobs: what ``jobs ls`` and the console's jobs screen show."""

from typing import Final

from streamops.model.acting import Job, JobState
from streamops.present.cells import NAME_WIDTH, NOT_THERE, count_cell, name_cell
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import percent, rfc3339, timestamp

STATES: Final = {
    JobState.RUNNING: Cell("▸ running", Tone.OK),
    JobState.INTERRUPTED: Cell("▲ interrupted", Tone.WARN),
    JobState.DONE: Cell("✓ done", Tone.DIM),
    JobState.CANCELLED: Cell("‖ cancelled", Tone.DIM),
    JobState.FAILED: Cell("✗ failed", Tone.CRITICAL),
}


def job_cell(job: Job) -> Cell:
    """Where a job stands, in a glyph and words."""
    if job.abandoned:
        return Cell("▲ abandoned", Tone.WARN)
    if job.state is JobState.RUNNING and job.cancelling:
        return Cell("‖ stopping", Tone.WARN)
    return STATES[job.state]


def done_of(job: Job) -> int:
    """Units that were dealt with, one way or another."""
    return job.applied + job.skipped + job.failed


def share_of(job: Job) -> float | None:
    """How much of it is dealt with, 0 to 1; none where nothing was planned."""
    return min(done_of(job) / job.requested, 1.0) if job.requested else None


JOB_COLUMNS: Final[tuple[Column[Job], ...]] = (
    Column(
        key="job",
        title="JOB",
        help="Its ID, the token to resume it with.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: name_cell(row.id),
        value=lambda row: row.id,
        width=12,
        priority=0,
    ),
    Column(
        key="operation",
        title="OPERATION",
        help="What is done.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: name_cell(row.operation),
        value=lambda row: row.operation,
        width=12,
        flexible=True,
        priority=0,
    ),
    Column(
        key="target",
        title="TARGET",
        help="To what.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: name_cell(row.target),
        value=lambda row: row.target,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="state",
        title="STATE",
        help="Its state. An interrupted one can be resumed, and one whose owner has abandoned it.",
        source="the job's hash, streamops:job:ID",
        cell=job_cell,
        value=lambda row: "abandoned" if row.abandoned else row.state.value,
        width=13,
        priority=0,
    ),
    Column(
        key="share",
        title="DONE %",
        help="How much of what was planned is done.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: Cell(percent(share_of(row))),
        value=share_of,
        width=6,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="applied",
        title="APPLIED",
        help="Entries acted on.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: count_cell(row.applied),
        value=lambda row: row.applied,
        width=9,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="requested",
        title="PLANNED",
        help="Entries that the plan counted.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: count_cell(row.requested),
        value=lambda row: row.requested,
        width=9,
        align=Align.RIGHT,
        priority=3,
        descending=True,
    ),
    Column(
        key="owner",
        title="OWNER",
        help="Who runs it, or ran it last.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: name_cell(row.owner) if row.owner else NOT_THERE,
        value=lambda row: row.owner,
        width=NAME_WIDTH,
        flexible=True,
        priority=1,
    ),
    Column(
        key="lease_ends",
        title="LEASE UNTIL",
        help="When its owner's lease ends; without a lease nobody runs it.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: NOT_THERE if row.lease_ends is None else Cell(timestamp(row.lease_ends)),
        value=lambda row: None if row.lease_ends is None else rfc3339(row.lease_ends),
        width=20,
        priority=4,
    ),
    Column(
        key="updated_at",
        title="LAST UPDATE",
        help="When it last reported its progress.",
        source="the job's hash, streamops:job:ID",
        cell=lambda row: Cell(timestamp(row.updated_at)),
        value=lambda row: None if row.updated_at is None else rfc3339(row.updated_at),
        width=20,
        priority=5,
        descending=True,
    ),
)
