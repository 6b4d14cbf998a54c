"""Stopping a job: what the server says about it, and the plan."""

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Job, JobState, Plan
from streamops.model.wording import counted
from streamops.operations.jobs_cancel.intent import CancelJobIntent
from streamops.operations.planning import planned


class CancelJobEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        job: The job.
    """

    job: Job


OVER = frozenset({JobState.DONE, JobState.CANCELLED})


def plan_cancel_job(intent: CancelJobIntent, evidence: CancelJobEvidence) -> Plan:
    """Ask its owner to stop, or end it if no process runs it; raises ``Forbidden`` if it is over."""
    job = evidence.job
    if job.state in OVER:
        raise Forbidden(f"job {job.id} is over", "There is nothing left to stop.")
    dealt = job.applied + job.skipped + job.failed
    progress = f"{dealt:,} of {counted(job.requested, 'unit', 'units')} processed"
    return planned(
        intent,
        1,
        target=job.target,
        unit=("job", "jobs"),
        sample=[f"{job.id}: {job.operation} {job.target}, {progress}"],
        effects=[
            f"{job.owner} stops after its current batch."
            if is_running(job)
            else "No process runs it: it ends at once.",
            "What it did stays done. It cannot be resumed afterwards.",
        ],
    )


def is_running(job: Job) -> bool:
    """Whether a process runs a job, by its lease."""
    return job.state is JobState.RUNNING and not job.abandoned
