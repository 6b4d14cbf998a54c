"""What an operation is made of, and its plan that is ready to be shown and then applied or dropped."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

from streamops.model.acting import (
    AuditRecord,
    Job,
    Limits,
    OperationIntent,
    Plan,
    StreamIdentity,
)
from streamops.monitor.context import ServerContext
from streamops.operations.undo_snapshots import snapshot_writes

if TYPE_CHECKING:
    from streamops.operations.running import Run
from streamops.operations.confirmation import ConfirmationPolicy

Intent = TypeVar("Intent", bound=OperationIntent)
Evidence = TypeVar("Evidence", bound=Struct)

Writes = tuple[tuple[str, str], ...]


class Operation(Struct, Generic[Intent, Evidence], frozen=True, kw_only=True):
    """One operation.

    Attributes:
        intent: Its intent's type, which has its name, its summary and its impact.
        survey: Reads the evidence that its plan needs; writes nothing. Raises ``StreamopsError``.
        plan: Makes its plan; pure. Raises ``PlanError`` if there is no safe way.
        apply: Writes what the plan said, in batches, each with its guards in the script that writes, and
            tells the run of every batch. Raises ``StreamopsError`` if it cannot go on.
        writes: What it will send, to be asked for before the first write: commands on its stream, or (command, key)
            pairs. What keeping an undo snapshot sends is added to them.
        key: The field of the intent that names its stream, whose server and identity the engine rechecks before the
            first write; empty for none.
        job_from: From so many units on it is a job, which others see and which can be resumed; none for never.
        resume: The intent for the rest of a job that was interrupted; None if it cannot be resumed.
        resolve_defaults: The intent with what the evidence decided put in (bounds, targets), as its job, its audit
            record and its permission probes need it; None if nothing is left open.
        undo: The intent of the operation that takes it back, from the records of its audit; None if
            there is no exact inverse. Raises ``PlanError`` if nothing can in this case.
        resolve: What the intent comes down to, asked for before the survey: an operation, its intent, and the actions
            that it takes back; None if it is as it stands.
        undo_snapshot: Whether its scripts keep rows as they were beside the stream, until the audit log has them.
        groups_a_ms: How many groups of a stream its scripts look at in a millisecond; zero if they look at none, or
            its plan tells of it.
        fixed: Whether nothing joins what it selected: where more is left than was not done yet, a failover threw some of
            what was done away.
        own: Whether what it writes to is streamops's own, which every other operation has to leave alone.
    """

    intent: type[Intent]
    survey: Callable[[ServerContext, Intent], Awaitable[Evidence]]
    plan: Callable[[Intent, Evidence], Plan]
    apply: Callable[["Run", Intent, Evidence, Plan], Awaitable[None]]
    writes: Callable[[Intent], Writes] | tuple[str, ...]
    key: str = "stream"
    job_from: int | None = None
    resume: Callable[[Intent, Job], Intent] | None = None
    resolve_defaults: Callable[[Intent, Evidence], Intent] | None = None
    undo: Callable[[Intent, Sequence[AuditRecord]], OperationIntent] | None = None
    resolve: (
        Callable[
            [ServerContext, Intent], Awaitable[tuple["Operation[Any, Any]", OperationIntent, tuple[str, ...]]]
        ]
        | None
    ) = None
    undo_snapshot: bool = False
    groups_a_ms: int = 0
    fixed: bool = False
    own: bool = False

    @property
    def name(self) -> str:
        """Its name: ``claim``, ``groups.destroy``."""
        return self.intent.operation

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return self.intent.summary()

    def stream_of(self, intent: Intent) -> str | None:
        """The stream that an intent is about; None if there is none."""
        return getattr(intent, self.key) if self.key else None

    def writes_of(self, intent: Intent) -> Writes:
        """The (command, key) pairs that it will send."""
        stream = self.stream_of(intent) or ""
        if callable(self.writes):
            pairs = self.writes(intent)
        else:
            pairs = tuple((command, stream) for command in self.writes)
        return (*pairs, *snapshot_writes(stream)) if self.undo_snapshot else pairs


class Prepared(Struct, Generic[Intent, Evidence], frozen=True):
    """A plan with what it was made from, to be shown and then applied or dropped. A dry run drops it.

    Attributes:
        operation: The operation.
        intent: What was asked for, with what the evidence decided.
        evidence: What the server said.
        plan: What would be done.
        policy: What has to be answered first.
        limits: What the operator insists on.
        identity: Which server and stream it was made on; None if the operation has no stream.
        job: The job that it goes on with; none for a new action.
        undoes: The actions that it takes back; None if it takes none back.
    """

    operation: Operation[Intent, Evidence]
    intent: Intent
    evidence: Evidence
    plan: Plan
    policy: ConfirmationPolicy
    limits: Limits
    identity: StreamIdentity | None
    job: Job | None = None
    undoes: tuple[str, ...] = ()

    @property
    def snapshot_stream(self) -> str:
        """The stream beside which its scripts keep an undo snapshot; empty if they keep none."""
        stream = self.operation.stream_of(self.intent) if self.operation.undo_snapshot else None
        return stream or ""

    @property
    def is_job(self) -> bool:
        """Whether it is long enough to be a job, or the rest of one. What goes on until it is stopped has no rest."""
        bound = self.operation.job_from
        long = bound is not None and self.plan.count >= bound and not self.plan.recurring
        return self.job is not None or long
