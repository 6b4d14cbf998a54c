"""``jobs cancel``: ask a job's owner to stop, and end one that no process runs any more."""

from typing import Final

from streamops.model.acting import Plan
from streamops.monitor.context import ServerContext
from streamops.operations.audit_writer import end_orphan, left_to_do
from streamops.operations.jobs import ask_to_stop, find_job
from streamops.operations.jobs_cancel.intent import CancelJobIntent
from streamops.operations.jobs_cancel.plan import CancelJobEvidence, plan_cancel_job
from streamops.operations.operation import Operation
from streamops.operations.running import Run
from streamops.wire.writes.jobs import job_key


async def survey_cancel_job(place: ServerContext, intent: CancelJobIntent) -> CancelJobEvidence:
    """Read the job; raises ``NotFound`` if there is none."""
    return CancelJobEvidence(job=await find_job(place.server, intent.job))


async def apply_cancel_job(
    run: Run, intent: CancelJobIntent, _evidence: CancelJobEvidence, _plan: Plan
) -> None:
    """Ask it to stop; if it is over at once, its trail is ended with what is known."""
    if await ask_to_stop(run.server, intent.job):
        job = await find_job(run.server, intent.job)
        if job.audit_id:
            by = f" by {run.audit_id}" if run.audit_id else ""
            then = f"cancelled{by}; its last batch may not be counted"
            await end_orphan(run.server, run.actor, job, rest=left_to_do(job), then=then)
        run.note(f"job {intent.job} is over")
    else:
        run.note(f"job {intent.job} stops after its current batch")
    await run.report(1)


CANCEL_JOB: Final = Operation(
    intent=CancelJobIntent,
    survey=survey_cancel_job,
    plan=plan_cancel_job,
    apply=apply_cancel_job,
    writes=lambda intent: (("HSET", job_key(intent.job)),),
    key="",
    own=True,
)
OPERATIONS = (CANCEL_JOB,)
