"""Acting on an invention: plans, outcomes, the audit log and jobs as a test wants them."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from streamops.errors import Forbidden, Interrupted, StreamopsError
from streamops.model.acting import (
    Action,
    ActionPage,
    Actor,
    AuditPhase,
    AuditRecord,
    Confirmation,
    Environment,
    Impact,
    Job,
    JobPage,
    JobState,
    Limits,
    Outcome,
    Plan,
    Progress,
    Skipped,
)
from streamops.model.entries import EntryId
from streamops.model.streams import ReadError
from tests.support.invented import NOW, entry_id, minutes, seconds

if TYPE_CHECKING:  # As in the console, only who acts pays for the engine.
    from streamops.operations.operation import Prepared

ACTOR = Actor("ada", "bastion-1", 4711, "prod", Environment.PRODUCTION)
CLAIM = Plan(
    operation="claim",
    target="orders/fulfilment",
    impact=Impact.REVERSIBLE,
    count=12,
    sample=tuple(f"{entry_id(minutes(42) - seconds(at))} owned by worker-7, idle 41 min" for at in range(10)),
    effects=(
        "12 entries of worker-7 will belong to worker-5.",
        "Claiming delivers nothing: worker-5 has to read its own history.",
    ),
    undo="`streamops undo` gives them back to their owners.",
    command="streamops claim orders fulfilment --to worker-5 --from worker-7",
    confirm="orders",
    fingerprint="c1a1m0000000",
)
ACK = Plan(
    operation="ack",
    target="orders/fulfilment",
    impact=Impact.REDELIVERS,
    count=12,
    sample=CLAIM.sample,
    effects=("12 entries will count as processed by group fulfilment; worker-7 will not get them again.",),
    loses="2 pending rows of entries that no longer exist.",
    undo="`streamops undo` makes them pending again, as long as the entries exist.",
    warnings=("3 IDs are not pending in this group, and will be left out.",),
    command="streamops ack orders fulfilment --ids 1773487080000-0",
    confirm="orders",
    fingerprint="acc000000000",
)
TRIM = Plan(
    operation="trim",
    target="orders",
    impact=Impact.DESTRUCTIVE,
    count=47_120,
    effects=("The oldest 47,120 of 48,120 entries are dropped.",),
    loses="3 entries that billing has not read, and 14 that are pending in fulfilment.",
    warnings=("The group reports has read everything; it loses nothing.",),
    held_back_by="Nothing holds it back: --unsafe drops what groups have still to read.",
    command="streamops trim orders --maxlen 1000 --unsafe",
    confirm="orders",
    fingerprint="721000000000",
)
DONE = Outcome(
    operation="claim",
    target="orders/fulfilment",
    requested=12,
    applied=10,
    skipped=(
        Skipped(str(entry_id(minutes(42))), "no longer pending"),
        Skipped(str(entry_id(minutes(41))), "owned by worker-6 now"),
    ),
    skipped_count=2,
    notes=("1 entry no longer existed; the server took it off the list.",),
    audit_id="1773489600000-0",
    elapsed=timedelta(milliseconds=84),
)
JOB = Job(
    id="4f1c09ab12cd",
    operation="claim",
    target="orders/fulfilment",
    intent=b"{}",
    state=JobState.RUNNING,
    owner="ada@bastion-1:4711",
    lease_ends=NOW + seconds(24),
    cursor="1773489000000-0",
    until="1773489600000-0",
    requested=1_000_000,
    applied=412_000,
    skipped=12,
    failed=0,
    created_at=NOW - minutes(2),
    updated_at=NOW - seconds(1),
    audit_id="1773489600000-0",
)


def action(number: int, plan: Plan, outcome: Outcome | None, reason: str = "", undone_by: str = "") -> Action:
    """An action of that number, the newest with the highest."""
    begun = f"{1773489600000 + number}-0"
    first = AuditRecord(
        id=begun, phase=AuditPhase.BEGUN, begun_id=begun, at=NOW + seconds(number), operation=plan.operation,
        target=plan.target, actor=ACTOR, reason=reason, intent=b"{}", plan=plan, undone_by=undone_by,
    )  # fmt: skip
    if outcome is None:
        return Action(first)
    phase = AuditPhase.FAILED if outcome.stopped else AuditPhase.DONE
    last = AuditRecord(
        id=f"{1773489600000 + number}-9", phase=phase, begun_id=begun, at=NOW + seconds(number + 1),
        operation=plan.operation, target=plan.target, actor=ACTOR, outcome=outcome,
    )  # fmt: skip
    return Action(first, last)


class InventedActs:
    """The half of a source that acts. It remembers what it was asked to do, and does nothing.

    Attributes:
        plan: What planning finds; raised where it is an error.
        outcome: What applying comes to; raised where it is an error.
        environment: How much care the place deserves.
        read_only: Whether applying is refused, as the engine does.
        steps: Told as progress, before the end.
        hold: Cleared, applying waits after its steps until it is set, or until it is told to stop.
        actions: The audit log, newest first.
        jobs: The jobs, newest first.
        planned: What was planned, with its limits.
        applied: What was applied, and how it was agreed to.
        cancelled: Which jobs were cancelled.
    """

    def __init__(self) -> None:
        self.plan: Plan | StreamopsError = CLAIM
        self.outcome: Outcome | BaseException = DONE
        self.environment = Environment.PRODUCTION
        self.read_only = False
        self.steps: tuple[Progress, ...] = ()
        self.hold = asyncio.Event()
        self.hold.set()
        self.actions: tuple[Action, ...] = ()
        self.jobs: tuple[Job, ...] = ()
        self.job_gaps: tuple[ReadError, ...] = ()
        self.planned: list[tuple[Struct | str, Limits]] = []
        self.applied: list[tuple[Plan, Confirmation]] = []
        self.cancelled: list[str] = []

    async def prepare(self, intent: Struct, limits: Limits = Limits()) -> "Prepared[Any, Any]":  # noqa: B008 - frozen
        self.planned.append((intent, limits))
        return self._prepared(intent, limits)

    async def prepare_rest(self, job_id: str) -> "Prepared[Any, Any]":
        self.planned.append((job_id, Limits()))
        from streamops.operations.ack.intent import AckIntent  # noqa: PLC0415 - any intent does

        return self._prepared(AckIntent(stream="orders", group="billing", ids=()), Limits())

    async def apply(
        self,
        prepared: "Prepared[Any, Any]",
        confirmation: Confirmation = Confirmation(),  # noqa: B008 - frozen
        progress: Callable[[Progress], None] | None = None,
        started: Callable[[str], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> Outcome:
        if self.read_only:
            raise Forbidden("read-only: nothing is changed here", "Leave out --read-only.")
        if not prepared.policy.accepts(confirmation):
            raise Forbidden("not confirmed", "Nothing was done.")
        self.applied.append((prepared.plan, confirmation))
        for step in self.steps:
            if started is not None and step.job:
                started(step.job)
            if progress is not None:
                progress(step)
        await self._held(stop)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    async def read_actions(self, count: int = 100, after: ActionPage | None = None) -> ActionPage:
        end = EntryId(2**64 - 1, 0) if after is None or after.next_id is None else after.next_id
        left = [one for one in self.actions if EntryId.parse(one.first.id) <= end]
        more = EntryId.parse(left[count].first.id) if len(left) > count else None
        return ActionPage(tuple(left[:count]), more)

    async def read_action(self, audit_id: EntryId) -> list[AuditRecord]:
        found = next(one for one in self.actions if one.first.id == str(audit_id))
        return [record for record in (found.first, found.last) if record is not None]

    async def read_job_page(self, limit: int = 100) -> JobPage:
        return JobPage(self.jobs[:limit], self.job_gaps)

    async def read_job(self, job_id: str) -> Job:
        return next(job for job in self.jobs if job.id == job_id)

    async def cancel_job(self, job_id: str) -> bool:
        self.cancelled.append(job_id)
        return False

    def _prepared(self, intent: Struct, limits: Limits) -> "Prepared[Any, Any]":
        from streamops.operations.confirmation import required_confirmation  # noqa: PLC0415 - see above
        from streamops.operations.operation import Prepared  # noqa: PLC0415 - see above
        from streamops.operations.registry import OPERATIONS  # noqa: PLC0415 - see above

        if isinstance(self.plan, StreamopsError):
            raise self.plan
        policy = required_confirmation(self.plan, self.environment)
        return Prepared(OPERATIONS.of(intent), intent, None, self.plan, policy, limits, None)

    async def _held(self, stop: asyncio.Event | None) -> None:
        stopped = asyncio.create_task(stop.wait()) if stop is not None else None
        released = asyncio.create_task(self.hold.wait())
        tasks = {released, *([stopped] if stopped is not None else [])}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        if stop is not None and stop.is_set():
            done = self.outcome if isinstance(self.outcome, Outcome) else DONE
            raise Interrupted("interrupted", "Resume it.", done)
