"""Stopping a job: what the server says about it, and the plan."""

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Impact, Job, JobState, Plan
from streamops.model.wording import counted
from streamops.operations.commands import equivalent_command
from streamops.operations.jobs_cancel.intent import CancelJobIntent
from streamops.operations.planning import fingerprint


class CancelJobEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        job: The job.
    """

    job: Job


OVER = frozenset({JobState.DONE, JobState.CANCELLED})


def plan_cancel_job(intent: CancelJobIntent, evidence: CancelJobEvidence) -> Plan:
    """Ask its owner to stop, or end it where nobody runs it; raises ``Forbidden`` where it is over."""
    job = evidence.job
    if job.state in OVER:
        raise Forbidden(f"job {job.id} is over", "There is nothing left to stop.")
    return Plan(
        operation="jobs.cancel",
        target=job.target,
        impact=Impact.REVERSIBLE,
        count=1,
        unit=("job", "jobs"),
        sample=(f"{job.id}: {job.operation} {job.target}, {_progress(job)}",),
        effects=(_effect(job), "What it did stays done. It cannot be resumed afterwards."),
        command=equivalent_command("jobs.cancel", intent),
        fingerprint=fingerprint(job.id, job.state, job.owner, job.abandoned),
    )


def _effect(job: Job) -> str:
    if is_running(job):
        return f"{job.owner} stops after the batch under way."
    return "Nobody runs it: it is over at once."


def is_running(job: Job) -> bool:
    """Whether somebody runs a job, as far as its lease tells."""
    return job.state is JobState.RUNNING and not job.abandoned


def _progress(job: Job) -> str:
    dealt = job.applied + job.skipped + job.failed
    return f"{dealt:,} of {counted(job.requested, 'unit', 'units')} dealt with"
