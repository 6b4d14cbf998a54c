"""The one way in which anything is changed: prepare a plan, show it, apply it with consent."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from streamops.analysis.wording import quoted
from streamops.errors import ApplyError, Forbidden, Interrupted, StalePlan, StreamopsError, Unreachable
from streamops.model.acting import (
    Actor,
    Assent,
    AuditPhase,
    Environment,
    Identity,
    Job,
    JobState,
    Limits,
    Outcome,
    Plan,
    Progress,
)
from streamops.operate.acting.audit import Trail
from streamops.operate.acting.jobs import HeldJob, JobStopped, over
from streamops.operate.acting.operation import Evidence, Intent, Operation
from streamops.operate.acting.packing import unpack
from streamops.operate.acting.place import Place
from streamops.operate.acting.reading import read_stream
from streamops.operate.acting.run import Run, StopAsked
from streamops.operate.acting.tally import Tally
from streamops.plans.consent import Consent, required_consent
from streamops.wire.harmless import refused_writes
from streamops.wire.writes.audit import AUDIT
from streamops.wire.writes.jobs import JOBS, job_key

Told = Callable[[Progress], None]
AnyIntent = TypeVar("AnyIntent", bound=Struct)


class Prepared(Struct, Generic[Intent, Evidence], frozen=True):
    """A plan with what it was made from, to be shown and then applied or dropped. A dry run drops it.

    Attributes:
        operation: The operation.
        intent: What was asked for, with what the evidence decided.
        evidence: What the server said.
        plan: What would be done.
        consent: What has to be answered first.
        limits: What the operator insists on.
        identity: Which server and stream it was made on; none where the operation has no stream.
        job: The job that it goes on with; none for a new action.
        undoes: The action that it takes back; empty where it takes none back.
    """

    operation: Operation[Intent, Evidence]
    intent: Intent
    evidence: Evidence
    plan: Plan
    consent: Consent
    limits: Limits
    identity: Identity | None
    job: Job | None = None
    undoes: str = ""


class Engine:
    """Prepares and applies operations on one server.

    Read-only mode, the place's environment, limits, the audit log and the rechecks live here, below every face.

    Attributes:
        actor: Who acts, and in which context.
        read_only: Whether everything that changes anything is refused.
    """

    def __init__(self, place: Place, actor: Actor, *, read_only: bool) -> None:
        self._place = place
        self._server = place.server
        self.actor = actor
        self.read_only = read_only

    async def prepare(
        self,
        operation: Operation[Intent, Evidence],
        intent: Intent,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        job: Job | None = None,
    ) -> Prepared[Intent, Evidence]:
        """Read the evidence and make the plan; writes nothing.

        Raises:
            Forbidden: It selects another number than the limits allow.
            PlanError: There is no safe way to do it.
            ServerError: The evidence cannot be read.
        """
        undoes = ""
        if operation.resolve is not None:
            resolved: Any = await operation.resolve(self._place, intent)
            operation, intent, undoes = resolved.operation, resolved.intent, resolved.undoes
        evidence = await operation.survey(self._place, intent)
        plan = operation.plan(intent, evidence)
        _check_limits(plan, limits)
        identity: Identity | None = getattr(evidence, "identity", None)
        consent = (
            required_consent(plan, self.actor.environment)
            if operation.asks
            else required_consent(replace(plan, count=0), Environment.DEVELOPMENT)
        )
        if operation.settle is not None:
            intent = operation.settle(intent, evidence)
        return Prepared(operation, intent, evidence, plan, consent, limits, identity, job, undoes)

    async def apply(
        self,
        prepared: Prepared[Any, Any],
        assent: Assent = Assent(),  # noqa: B008 - frozen
        progress: Told | None = None,
        started: Callable[[str], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Outcome:
        """Do what a plan says.

        Args:
            prepared: The plan.
            assent: The answer to it.
            progress: Told after each batch.
            started: Told the job's ID before its first write, where it is a job.
            stop: Set it to stop after the batch under way.

        Raises:
            Forbidden: Read-only, no consent, no permission to write, or no audit log. Nothing was written.
            StalePlan: The server is no longer in the plan's state. Nothing was written.
            Interrupted: It was asked to stop and did; the error holds the outcome.
            ApplyError: It stopped after its first write; the error holds the outcome.
            ServerError: The server failed before the first write.
        """
        self.forbid_if_read_only()
        plan, limits = prepared.plan, prepared.limits
        if not prepared.consent.accepts(assent):
            raise Forbidden(f"{plan.operation} {plan.target}: not agreed to", _consent_hint(prepared.consent))
        trail = Trail(self._server, self.actor)
        if not plan.count:
            await self._finish_job(prepared)
            return _nothing(plan)
        await self._check_permissions(prepared)
        await self._check_identity(prepared)
        await trail.begin(
            plan, prepared.intent, limits.reason, unaudited=limits.unaudited, undoes=prepared.undoes
        )
        job = await self._open_job(prepared, trail)
        if job and started:
            started(job.id)
        rate = prepared.job.rate if prepared.job and limits.rate is None else limits.rate
        run = Run(
            self._server,
            plan,
            trail=trail,
            job=job,
            most=limits.most,
            rate=rate,
            progress=progress,
            stop=stop,
        )
        return await self._carry_out(prepared, run, trail, job)

    async def resume(
        self,
        operation: Operation[Intent, Evidence],
        job: Job,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> Prepared[Intent, Evidence]:
        """Plan the rest of an interrupted job; raises as ``prepare`` does."""
        if job.state in {JobState.DONE, JobState.CANCELLED}:
            raise over(job.id)
        if operation.resume is None:
            raise Forbidden(f"{job.operation} cannot be resumed", "Run it again: what is done is left alone.")
        intent = operation.resume(unpack(operation.intent, job.intent), job)
        return await self.prepare(operation, intent, limits, job)

    def forbid_if_read_only(self) -> None:
        """Raises ``Forbidden`` where nothing may be changed."""
        if self.read_only:
            raise Forbidden(
                "read-only: nothing is changed here",
                "Leave out --read-only, or set `read_only = false` in the context.",
            )

    async def _check_permissions(self, prepared: Prepared[Any, Any]) -> None:
        writes = prepared.operation.writes(prepared.intent)
        # Scripts ask for the time, some of them after a write.
        asked = [*writes, ("TIME", AUDIT), *(JOB_WRITES if _is_job(prepared) else ())]
        if refused := await refused_writes(self._server, asked):
            command, key, why = refused[0]
            error = why.error(f"{command} on {key}")
            raise type(error)(error.message, f"Nothing was done. {_permission_hint(error)}")

    async def _check_identity(self, prepared: Prepared[Any, Any]) -> None:
        stream = prepared.operation.stream(prepared.intent)
        planned = prepared.identity
        if stream is None or planned is None:
            return
        _, now = await read_stream(self._server, stream)
        if _is_another(planned.replication_ids, now.replication_ids):
            raise StalePlan(
                f"stream {stream}: another server answers now than when the plan was made", STALE_HINT
            )
        before, after = planned.last_generated_id, now.last_generated_id
        if before is not None and (after is None or after < before):
            raise StalePlan(f"stream {stream}: it is another stream of that name now", STALE_HINT)

    async def _open_job(self, prepared: Prepared[Any, Any], trail: Trail) -> HeldJob | None:
        """The job that this is, held; where it cannot be had, the audit log says that nothing was done."""
        try:
            return await self._job(prepared, trail)
        except StreamopsError as error:
            with suppress(StreamopsError):
                await trail.end(replace(_nothing(prepared.plan), stopped=error.message), AuditPhase.FAILED)
            raise

    async def _finish_job(self, prepared: Prepared[Any, Any]) -> None:
        """Note that a job has come to its end of which nothing is left to do."""
        if prepared.job is not None:
            held = await HeldJob.take_over(self._server, str(self.actor), prepared.job)
            await held.end(Tally(), held.cursor, JobState.DONE)

    async def _job(self, prepared: Prepared[Any, Any], trail: Trail) -> HeldJob | None:
        plan, owner = prepared.plan, str(self.actor)
        if prepared.job is not None:
            return await HeldJob.take_over(self._server, owner, prepared.job)
        if not _is_job(prepared):
            return None
        return await HeldJob.create(
            self._server, owner, plan, prepared.intent, audit_id=trail.id, rate=prepared.limits.rate
        )

    async def _carry_out(
        self, prepared: Prepared[Any, Any], run: Run, trail: Trail, job: HeldJob | None
    ) -> Outcome:
        plan = prepared.plan
        try:
            await prepared.operation.apply(run, prepared.intent, prepared.evidence, plan)
        except asyncio.CancelledError:
            # The last words are said even though this task is being cancelled.
            outcome = _outcome(run, plan, trail, "interrupted")
            await asyncio.shield(asyncio.wait_for(_close(trail, job, run, outcome, JobState.INTERRUPTED), 5))
            raise
        except StreamopsError as error:
            lost = isinstance(error, Unreachable)
            why = f"{error.message}{UNKNOWN_BATCH if lost else ''}"
            outcome = _outcome(run, plan, trail, why)
            state = JobState.CANCELLED if isinstance(error, JobStopped) else JobState.INTERRUPTED
            await _close(trail, job, run, outcome, state)
            if isinstance(error, StopAsked):
                raise Interrupted(why, _resume_hint(job), outcome) from None
            if not run.tally.applied and not lost:
                raise
            raise ApplyError(why, error.hint, outcome) from error
        outcome = _outcome(run, plan, trail)
        await _close(trail, job, run, outcome, JobState.DONE)
        return outcome


JOB_WRITES = (("HSET", job_key("none")), ("EXPIRE", job_key("none")), ("ZADD", JOBS))
NO_REPLICATION_ID = "0" * 40
UNKNOWN_BATCH = "; whether the batch under way was done is not known"
STALE_HINT = "Nothing was done. Look again, and make a new plan."


def _is_job(prepared: Prepared[Any, Any]) -> bool:
    """Whether it is long enough to be a job, or the rest of one."""
    bound = prepared.operation.job_from
    return prepared.job is not None or (bound is not None and prepared.plan.count >= bound)


def _is_another(planned: Sequence[str], now: Sequence[str]) -> bool:
    """Whether two sets of replication IDs are of different servers; a failover keeps one of them."""
    return bool(planned and now) and not ({*planned} & {*now}) - {NO_REPLICATION_ID}


async def _close(trail: Trail, job: HeldJob | None, run: Run, outcome: Outcome, state: JobState) -> None:
    """Write the last records; where the server does not answer any more, what is done stays done."""
    phase = AuditPhase.FAILED if outcome.stopped else AuditPhase.DONE
    try:
        await trail.end(outcome, phase)
        if job is not None:
            await job.end(run.tally, run.cursor, state)
    except StreamopsError as error:
        run.note(f"the last records could not be written: {error.message}")


def _outcome(run: Run, plan: Plan, trail: Trail, stopped: str = "") -> Outcome:
    return run.tally.outcome(plan, elapsed=run.elapsed, job=run.job_id, audit_id=trail.id, stopped=stopped)


def _nothing(plan: Plan) -> Outcome:
    return Outcome(operation=plan.operation, target=plan.target, requested=plan.count, applied=0)


def _check_limits(plan: Plan, limits: Limits) -> None:
    name = f"{plan.operation} {plan.target}"
    if limits.expect is not None and plan.count != limits.expect:
        raise Forbidden(
            f"{name}: {plan.count:,} selected, {limits.expect:,} expected", "Nothing was done. Look again."
        )
    if plan.count > limits.most:
        raise Forbidden(
            f"{name}: more than {limits.most:,} selected",
            "Nothing was done. Narrow the selection, or allow more with --max N.",
        )


def _consent_hint(consent: Consent) -> str:
    if consent.by_yes:
        return "Nothing was done. Agree with --yes, or look at the plan alone with --dry-run."
    return f"Nothing was done. It cannot be undone: say so with --confirm {quoted(consent.word)}."


def _resume_hint(job: HeldJob | None) -> str:
    return "" if job else "Run it again for the rest: what is done is left alone."


def _permission_hint(error: StreamopsError) -> str:
    return error.hint.replace("--acl observer", "--acl operator")
