"""The trail of an action whose process was killed: whoever goes on with its job, or ends it, writes its last record."""

from contextlib import suppress
from datetime import timedelta

from streamops.errors import StreamopsError
from streamops.model.acting import Actor, AuditPhase, AuditRecord, Job, Outcome
from streamops.model.ids import EntryId
from streamops.operate.acting.actions import ENDS
from streamops.operate.acting.audit import Trail, read_action
from streamops.wire.server import Server


async def end_orphan(server: Server, actor: Actor, job: Job, *, rest: int, then: str) -> None:
    """End the trail of an abandoned job's last action, where it has no end; what cannot be read is left alone.

    Args:
        server: Where.
        actor: Who goes on with it, or ends it.
        job: The job as its owner left it.
        rest: Units that are left to do, as far as is known.
        then: What became of it, in words.
    """
    with suppress(StreamopsError, ValueError):
        records = await read_action(server, EntryId.parse(job.audit_id))
        if records[-1].phase in ENDS:
            return
        trail = Trail.of(server, actor, records[0])
        await trail.gather()
        await trail.end(_what_became_of(job, records[0], rest, then), AuditPhase.FAILED)


async def gather_orphan(server: Server, actor: Actor, action: EntryId) -> None:
    """Put into the log what a killed action has kept beside its stream; raises ``StreamopsError``."""
    records = await read_action(server, action)
    # What comes after an action's last words is not looked for in the log.
    if records[-1].phase not in ENDS:
        await Trail.of(server, actor, records[0]).gather()


def _what_became_of(job: Job, begun: AuditRecord, rest: int, then: str) -> Outcome:
    """What can still be said: no more than this was done, and what is left was not."""
    requested = begun.plan.count if begun.plan else job.requested
    dealt = max(0, requested - rest)
    failed = min(job.failed, dealt)
    skipped = min(job.skipped, dealt - failed)
    known = begun.at is not None and job.updated_at is not None and job.updated_at > begun.at
    return Outcome(
        operation=job.operation,
        target=job.target,
        requested=requested,
        applied=dealt - failed - skipped,
        skipped_count=skipped,
        failed_count=failed,
        job=job.id,
        audit_id=begun.id,
        elapsed=job.updated_at - begun.at if known and job.updated_at and begun.at else timedelta(0),
        complete=False,
        stopped=f"interrupted; {then}",
    )


def gone_on_with(rest: int, by: str) -> str:
    """What became of a job that somebody took over.

    Args:
        rest: Units that were left to do.
        by: The action that goes on with it; empty where it does without a record.
    """
    if not rest:
        return "nothing was left to do"
    return f"continued by {by}" if by else "continued without a record"


def left_to_do(job: Job) -> int:
    """Units of a job that are left to do, by what it could tell."""
    return max(0, job.requested - job.applied - job.skipped - job.failed)
