"""Jobs: columns and JSON."""

from typing import Final

from streamops.model.acting import Job, JobState
from streamops.model.json_text import Json
from streamops.resources.kinds import NAME_WIDTH, NOT_THERE, of_rows
from streamops.resources.table import Align, Cell, Column, Resource, Tone, values_json
from streamops.resources.units import percent

STATES: Final = {
    JobState.RUNNING: Cell("▸ running", Tone.OK),
    JobState.INTERRUPTED: Cell("▲ interrupted", Tone.WARN),
    JobState.DONE: Cell("✓ done", Tone.DIM),
    JobState.CANCELLED: Cell("‖ cancelled", Tone.DIM),
    JobState.FAILED: Cell("✗ failed", Tone.CRITICAL),
}


def job_cell(job: Job) -> Cell:
    """The state of a job, in a glyph and words."""
    if job.abandoned:
        return Cell("▲ abandoned", Tone.WARN)
    if job.state is JobState.RUNNING and job.cancelling:
        return Cell("‖ stopping", Tone.WARN)
    return STATES[job.state]


def done_of(job: Job) -> int:
    """Units that were dealt with, one way or another."""
    return job.applied + job.skipped + job.failed


def share_of(job: Job) -> float | None:
    """How much of it is dealt with, 0 to 1; None if nothing was planned."""
    return min(done_of(job) / job.requested, 1.0) if job.requested else None


JOB = of_rows(Job, "the job's hash, streamops:job:ID")


JOB_COLUMNS: Final[tuple[Column[Job], ...]] = (
    JOB.text("job", "JOB", 12, lambda row: row.id, priority=0).means("Its ID, the token to resume it with."),
    JOB.text("operation", "OPERATION", 12, lambda row: row.operation, flexible=True, priority=0).means(
        "What is done."
    ),
    JOB.text("target", "TARGET", NAME_WIDTH, lambda row: row.target, flexible=True, priority=0).means(
        "To what."
    ),
    JOB.column(
        "state",
        "STATE",
        13,
        lambda row: "abandoned" if row.abandoned else row.state.value,
        job_cell,
        priority=0,
    ).means("Its state. An interrupted or abandoned one can be resumed."),
    JOB.column(
        "share",
        "DONE %",
        6,
        share_of,
        lambda row: Cell(percent(share_of(row))),
        align=Align.RIGHT,
        descending=True,
        priority=0,
    ).means("Progress, of what was planned."),
    JOB.count("applied", "APPLIED", 9, lambda row: row.applied, priority=2).means("Entries acted on."),
    JOB.count("requested", "PLANNED", 9, lambda row: row.requested, priority=3).means(
        "Entries that the plan counted."
    ),
    JOB.text("owner", "OWNER", 12, lambda row: row.owner, flexible=True, priority=1).means(
        "The process that runs it, or ran it last."
    ),
    JOB.moment("lease_ends", "LEASE UNTIL", 20, lambda row: row.lease_ends, absent=True, priority=4).means(
        "When its owner's lease ends; without a lease no process runs it."
    ),
    JOB.moment(
        "updated_at", "LAST UPDATE", 20, lambda row: row.updated_at, descending=True, priority=5
    ).means("When it last reported its progress."),
)


JOB_DETAIL_COLUMNS: Final[tuple[Column[Job], ...]] = (
    JOB.count("skipped", "SKIPPED", 9, lambda row: row.skipped, descending=False).means(
        "Entries skipped because they had changed since the plan."
    ),
    JOB.count("failed", "FAILED", 9, lambda row: row.failed, descending=False).means("Units that failed."),
    JOB.text("cursor", "CURSOR", 20, lambda row: row.cursor or None).means(
        "Progress, as its operation reports it."
    ),
    JOB.column(
        "rate",
        "RATE LIMIT",
        10,
        lambda row: row.rate,
        lambda row: NOT_THERE if row.rate is None else Cell(f"{row.rate:g}/s"),
        align=Align.RIGHT,
    ).means("Rate limit, units per second; a dash if there is none."),
    JOB.flag("cancelling", "CANCELLING", 10, lambda row: row.cancelling).means(
        "Whether it was asked to stop."
    ),
    JOB.moment("created_at", "BEGAN", 20, lambda row: row.created_at).means("When it began."),
    JOB.text("audit_id", "AUDIT ID", 18, lambda row: row.audit_id or None).means(
        "Its action in the audit log."
    ),
)


def job_json(row: Job) -> Json:
    """A job as JSON."""
    return values_json((*JOB_COLUMNS, *JOB_DETAIL_COLUMNS), row)


JOBS: Final = Resource[Job](
    key=lambda job: job.id,
    columns=JOB_COLUMNS,
    more=JOB_DETAIL_COLUMNS,
    text=lambda job: f"{job.id} {job.operation} {job.target} {job.owner} {job.state}",
    fault=lambda job: job.state in {JobState.INTERRUPTED, JobState.FAILED},
)
