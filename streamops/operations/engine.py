"""The one way in which anything is changed: prepare a plan, show it, apply it with consent."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden, Interrupted, StreamopsError, Unreachable
from streamops.model.acting import (
    Actor,
    AuditPhase,
    Confirmation,
    Environment,
    Impact,
    Job,
    JobState,
    Limits,
    Outcome,
    Plan,
    Progress,
    StreamIdentity,
)
from streamops.model.entries import EntryId
from streamops.model.wording import quoted
from streamops.monitor.context import ServerContext
from streamops.operations.audit_writer import AuditWriter, end_orphan, gather_orphan, gone_on_with
from streamops.operations.checks_before_writing import (
    audit_warnings,
    check_fingerprint,
    check_identity,
    check_limits,
    check_own_keys,
    check_permissions,
    permission_hint,
)
from streamops.operations.commands import full_command
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy, required_confirmation
from streamops.operations.jobs import HeldJob, JobCounts, JobStopped, held_by, over
from streamops.operations.operation import Evidence, Intent, Operation, Prepared
from streamops.operations.packing import unpack_asked
from streamops.operations.planning import fingerprint, many_groups_warnings
from streamops.operations.registry import command_words
from streamops.operations.running import Run, StopAsked

OnProgress = Callable[[Progress], None]


class Engine:
    """Prepares and applies operations on one server.

    Read-only mode, the place's environment, limits, the audit log and the rechecks live here, below every face.

    Attributes:
        actor: Who acts, and in which context.
        read_only: Whether everything that changes anything is refused.
    """

    def __init__(self, place: ServerContext, actor: Actor, *, read_only: bool) -> None:
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
            Forbidden: It selects another number than the limits allow, or acts on streamops's own keys.
            StalePlan: It is not the plan that the limits name.
            PlanError: There is no safe way to do it.
            ServerError: The evidence cannot be read.
        """
        undoes: tuple[str, ...] = ()
        if operation.resolve is not None:
            resolved: Any = await operation.resolve(self._place, intent)
            operation, intent, undoes = resolved
        if job and limits.rate is None:
            limits = replace(limits, rate=job.rate)
        check_own_keys(operation, intent)
        evidence = await operation.survey(self._place, intent)
        plan = operation.plan(intent, evidence)
        check_limits(plan, limits)
        line = full_command(plan.command, self.actor.selector, limits)
        identity: StreamIdentity | None = getattr(evidence, "identity", None)
        crowd = _many_groups(operation, plan, identity)
        warnings = (*plan.warnings, *crowd, *await self._warnings(plan, limits))
        plan = replace(plan, command=line, warnings=warnings, fingerprint=fingerprint(intent, evidence))
        check_fingerprint(plan, limits)
        policy = (
            required_confirmation(plan, self.actor.environment)
            if operation.intent.asks or plan.impact is Impact.DESTRUCTIVE
            else required_confirmation(replace(plan, count=0), Environment.DEVELOPMENT)
        )
        if operation.resolve_defaults is not None:
            intent = operation.resolve_defaults(intent, evidence)
            check_own_keys(operation, intent)
        return Prepared(operation, intent, evidence, plan, policy, limits, identity, job, undoes)

    async def apply(
        self,
        prepared: Prepared[Any, Any],
        confirmation: Confirmation = Confirmation(),  # noqa: B008 - frozen
        progress: OnProgress | None = None,
        started: Callable[[str], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Outcome:
        """Do what a plan says.

        Args:
            prepared: The plan.
            confirmation: The answer to it.
            progress: Told after each batch.
            started: Told the job's ID before its first write, if it is a job.
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
        if not prepared.policy.accepts(confirmation):
            hint = _confirmation_hint(prepared.policy, confirmation)
            raise Forbidden(f"{command_words(plan.operation)} {plan.target}: not confirmed", hint)
        if plan.idle:
            if prepared.job is not None:
                held = await self._take_over(prepared.job, rest=0, by="")
                await held.end(JobCounts(), held.cursor, JobState.DONE)
            return _nothing(plan)
        await check_permissions(self._server, prepared, unaudited=limits.unaudited)
        await check_identity(self._server, prepared)
        audit = AuditWriter(self._server, self.actor)
        await audit.begin(
            plan,
            prepared.intent,
            limits.reason,
            unaudited=limits.unaudited,
            undoes=prepared.undoes,
            continues=prepared.job.audit_id if prepared.job else "",
            snapshot_stream=prepared.snapshot_stream,
        )
        job = await self._open_job(prepared, audit)
        if job and started:
            started(job.id)
        run = Run(
            self._server,
            plan,
            audit=audit,
            targets=self._place.targets,
            limits=limits,
            job=job,
            progress=progress,
            stop=stop,
        )
        return await self._carry_out(prepared, run)

    async def resume(
        self,
        operation: Operation[Intent, Evidence],
        job: Job,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> Prepared[Intent, Evidence]:
        """Plan the rest of an interrupted job; raises as ``prepare`` does, and ``Forbidden`` if it is held."""
        if job.state in {JobState.DONE, JobState.CANCELLED}:
            raise over(job.id)
        if job.state is JobState.RUNNING and not job.abandoned and job.owner != str(self.actor):
            raise held_by(job.id, job.owner, None)
        if operation.resume is None:
            raise Forbidden(
                f"{job.operation} cannot be resumed", "Run it again: finished entries are left alone."
            )
        asked = unpack_asked(
            operation.intent,
            job.intent,
            f"job {job.id} ({job.operation})",
            f"Resume it with that version, or end it: `streamops jobs cancel {job.id}`.",
        )
        intent = operation.resume(asked, job)
        return await self.prepare(operation, intent, limits, job)

    def forbid_if_read_only(self) -> None:
        """Raises ``Forbidden`` if nothing may be changed."""
        if self.read_only:
            raise Forbidden(
                "read-only: nothing is changed here",
                "Leave out --read-only, or set `read_only = false` in the context.",
            )

    async def _open_job(self, prepared: Prepared[Any, Any], audit: AuditWriter) -> HeldJob | None:
        """The job that this is, held; if it cannot be had, the audit log says that nothing was done."""
        try:
            return await self._job(prepared, audit)
        except StreamopsError as error:
            with suppress(StreamopsError):
                await audit.end(replace(_nothing(prepared.plan), stopped=error.message), AuditPhase.FAILED)
            raise

    async def _take_over(self, job: Job, *, rest: int, by: str, fixed: bool = False) -> HeldJob:
        held = await HeldJob.take_over(
            self._server, str(self.actor), job, rest=rest, audit_id=by, fixed=fixed
        )
        if job.state is JobState.RUNNING and job.audit_id:
            # Its owner was killed, and could not say so.
            await end_orphan(self._server, self.actor, job, rest=rest, then=gone_on_with(rest, by))
        return held

    async def _warnings(self, plan: Plan, limits: Limits) -> tuple[str, ...]:
        """What would keep a plan from being applied, told while it is looked at."""
        if self.read_only or plan.idle:
            return ()
        return await audit_warnings(self._server, unaudited=limits.unaudited)

    async def _job(self, prepared: Prepared[Any, Any], audit: AuditWriter) -> HeldJob | None:
        plan, owner = prepared.plan, str(self.actor)
        if prepared.job is not None:
            return await self._take_over(
                prepared.job, rest=plan.count, by=audit.id, fixed=prepared.operation.fixed
            )
        if not prepared.is_job:
            return None
        return await HeldJob.create(
            self._server, owner, plan, prepared.intent, audit_id=audit.id, rate=prepared.limits.rate
        )

    async def _carry_out(self, prepared: Prepared[Any, Any], run: Run) -> Outcome:
        try:
            for action in prepared.undoes:
                await gather_orphan(self._server, self.actor, EntryId.parse(action))
            await prepared.operation.apply(run, prepared.intent, prepared.evidence, prepared.plan)
            await run.audit.gather()
        except asyncio.CancelledError:
            # The last words are said even though this task is being cancelled.
            await asyncio.shield(_close_soon(run, run.outcome("interrupted")))
            raise
        except StreamopsError as error:
            error.hint = permission_hint(error)
            lost = isinstance(error, Unreachable)
            why = f"{error.message}{_what_of_the_batch(error)}"
            stopped = isinstance(error, JobStopped)
            state = JobState.CANCELLED if stopped else JobState.INTERRUPTED
            outcome = run.outcome(why)
            # Its token is of no use any more.
            outcome = replace(outcome, job="") if stopped else outcome
            outcome = await _close(run, outcome, state)
            if isinstance(error, StopAsked):
                hint = "" if run.job else "Run it again for the rest: finished entries are left alone."
                raise Interrupted(why, hint, outcome) from None
            if not run.counts.applied and not lost and not stopped:
                raise
            raise ApplyError(why, _hint_midway(error, run), outcome) from error
        except Exception as error:
            # A bug: what was done until then is told all the same.
            await _close(run, run.outcome(f"a bug: {type(error).__name__}"), JobState.INTERRUPTED)
            raise
        return await _close(run, run.outcome(), JobState.DONE)


LAST_WORDS = 5.0
"""Seconds that the last records of what was interrupted may take."""
NOTHING_DONE = "Nothing was done"
UNKNOWN_BATCH = "; whether the current batch was applied is unknown"
UNSENT_BATCH = "; the next batch was not sent"


async def _close_soon(run: Run, outcome: Outcome) -> None:
    """Write the last records of what was interrupted, as far as that is possible in a moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_WORDS):
            await _close(run, outcome, JobState.INTERRUPTED)


async def _close(run: Run, outcome: Outcome, state: JobState) -> Outcome:
    """Write the last records. If the server does not answer any more, the outcome says so: what is done is done.

    In a cluster they are on several nodes, of which one may be gone: each is written whatever became of the others.
    """
    phase = AuditPhase.FAILED if outcome.stopped else AuditPhase.DONE
    words: list[Callable[[], Awaitable[None]]] = [run.audit.gather] if outcome.stopped else []
    words.append(partial(run.audit.end, outcome, phase))
    if run.job is not None:
        words.append(partial(run.job.end, run.counts, run.cursor, state))
    problems: list[str] = []
    for say in words:
        if problems and len(run.server.nodes) == 1:
            break
        try:
            await say()
        except StreamopsError as error:
            problems.append(error.message)
    if not problems:
        return outcome
    note = f"the last records could not be written: {problems[0]}"
    return replace(outcome, notes=(*outcome.notes, note))


def _many_groups(
    operation: Operation[Any, Any], plan: Plan, identity: StreamIdentity | None
) -> tuple[str, ...]:
    """What looking at a stream's groups takes in each step, if it is worth a note."""
    if plan.idle or identity is None or not operation.groups_a_ms:
        return ()
    return many_groups_warnings(len(identity.positions), operation.groups_a_ms)


def _what_of_the_batch(error: StreamopsError) -> str:
    """What can be said of the batch under way where no answer came to it."""
    if not isinstance(error, Unreachable):
        return ""
    return UNKNOWN_BATCH if error.sent else UNSENT_BATCH


def _nothing(plan: Plan) -> Outcome:
    return Outcome(operation=plan.operation, target=plan.target, requested=plan.count, applied=0)


def _confirmation_hint(policy: ConfirmationPolicy, confirmation: Confirmation) -> str:
    if confirmation.typed and policy.kind is ConfirmationKind.TYPED:
        return f"Nothing was done: --confirm {quoted(confirmation.typed)} is not {quoted(policy.word)}."
    if policy.by_yes:
        return "Nothing was done. Apply with --yes, or show the plan alone with --dry-run."
    return f"Nothing was done. It cannot be undone: confirm it with --confirm {quoted(policy.word)}."


def _hint_midway(error: StreamopsError, run: Run) -> str:
    """The hint where something was done by then: most errors speak of nothing done."""
    if not error.hint.startswith(NOTHING_DONE):
        return error.hint
    told = f"; `streamops audit show {run.audit_id}` shows it" if run.audit_id else ""
    return f"What was applied until then stays{told}. Make a new plan."
