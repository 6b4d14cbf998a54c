"""What operations are spoken of in: actors, plans and their impact, outcomes, the audit log, and jobs."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from inspect import cleandoc
from typing import ClassVar

from msgspec import Struct

from streamops.model.effects import Effect
from streamops.model.entries import EntryId
from streamops.model.fields import Passing
from streamops.model.streams import ReadError


class Environment(StrEnum):
    """How much care a context deserves; what is not stated is production."""

    PRODUCTION = "production"
    STAGING = "staging"
    DEVELOPMENT = "development"


class Actor(Struct, frozen=True):
    """Who acts.

    Attributes:
        user: The operating system's user.
        host: The machine's name.
        pid: The process.
        context: The context in use; its server's address if there is none.
        environment: How much care the context deserves.
        selector: The options that choose this server on a command line; none at all if it is the default.
    """

    user: str = ""
    host: str = ""
    pid: int = 0
    context: str = ""
    environment: Environment = Environment.PRODUCTION
    selector: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.user}@{self.host}:{self.pid}"


class StreamIdentity(Struct, frozen=True):
    """Which stream this is, so that another one of the same name is noticed.

    Attributes:
        replication_ids: Its server's replication IDs, main and second; empty if INFO is not permitted.
        last_generated_id: The stream's last generated ID, which never goes back in one stream; None if
            the key did not exist or XINFO STREAM is not permitted.
        positions: Last delivered ID of the groups that matter, by name.
    """

    replication_ids: tuple[str, ...] = ()
    last_generated_id: EntryId | None = None
    positions: tuple[tuple[str, EntryId], ...] = ()

    def floor(self, group: str) -> EntryId | None:
        """The position that a group must not be behind; None if it was not read."""
        return dict(self.positions).get(group)


class Impact(IntEnum):
    """How much a plan changes; its number is the ``tier`` of JSON and of audit records."""

    REVERSIBLE = 1
    """Loses nothing, and can be undone or set back: claim, remove a consumer, create a group, pause."""

    REDELIVERS = 2
    """Delivers again, or skips: replay, acknowledge, give back, rewind, safe trim."""

    DESTRUCTIVE = 3
    """Loses state for good: unsafe trim, delete, purge, destroy."""


class OperationIntent(Struct, frozen=True, kw_only=True):
    """What one operation is asked for. Its docstring's first line sums it up, the rest is its help.

    Attributes:
        operation: The operation's name: ``claim``, ``groups.destroy``.
        impact: How much it changes, unless its plan knows better.
        examples: Command lines and what each does.
        exits: Exit codes of its command that mean something of their own.
        rated: Whether it may take long, so that a bound and a rate are asked for.
        asks: Whether its command asks before it applies the plan (``publish`` and the like do not); a plan that loses
            something is asked about in any case. The console always asks.
    """

    operation: ClassVar[str]
    impact: ClassVar[Impact]
    examples: ClassVar[tuple[tuple[str, str], ...]] = ()
    exits: ClassVar[Mapping[int, str]] = {}
    rated: ClassVar[bool] = False
    asks: ClassVar[bool] = True

    @classmethod
    def summary(cls) -> str:
        """What it does, in one line."""
        return _paragraphs(cls)[0]

    @classmethod
    def help(cls) -> str:
        """What it does, in a few sentences."""
        return "\n\n".join(_paragraphs(cls)[1:])


def _paragraphs(intent: type[OperationIntent]) -> list[str]:
    """Those of a docstring that are not about Python."""
    return cleandoc(intent.__doc__ or "").partition("\n\nRaises:")[0].split("\n\n")


class Plan(Struct, frozen=True, kw_only=True, rename={"impact": "tier", "recurring": "standing"}):
    """What would be done, told before it is done. Made by a pure planner from one reading of the server.

    Attributes:
        operation: The operation's name: ``claim``, ``groups.destroy``.
        target: What it acts on, in one text: ``orders/billing``, ``orders:dlq``.
        impact: How much it changes.
        count: Entries, groups or consumers that it would act on; zero is an empty selection.
        unit: What is counted, in the singular and the plural: ``("entry", "entries")``.
        sample: The first few of them, a line each.
        effects: What happens, a sentence each; effects on other groups too.
        loses: What is lost for good, in one sentence; empty if nothing is.
        undo: What ``undo`` does about it, in one sentence; empty if it has no exact inverse.
        opposite: The command line that sets it back where ``undo`` does not; empty if there is none.
        command: The equivalent command line.
        confirm: What has to be typed where the impact asks for a name: the target's own name.
        held_back_by: What keeps it from doing all that was asked (a safe trim); empty if nothing does.
        warnings: What the operator should think about first, a sentence each.
        facts: What those sentences say of groups and numbers, for programs.
        fingerprint: A digest of the intent and the evidence: two plans with the same one would do the same.
        recurring: Whether it goes on after what it counts, with whatever turns up, until it is stopped.
    """

    operation: str
    target: str
    impact: Impact
    count: int
    unit: tuple[str, str] = ("entry", "entries")
    sample: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    loses: str = ""
    undo: str = ""
    opposite: str = ""
    command: str = ""
    confirm: str = ""
    held_back_by: str = ""
    warnings: tuple[str, ...] = ()
    facts: tuple[Effect, ...] = ()
    fingerprint: str = ""
    recurring: bool = False

    @property
    def idle(self) -> bool:
        """Whether there is nothing to be done, now or later."""
        return not (self.count or self.recurring)

    @property
    def reversible(self) -> bool:
        """Whether ``undo`` can take it back."""
        return bool(self.undo)

    @property
    def irreversible(self) -> bool:
        """Whether it delivers, skips or loses something, and nothing takes that back."""
        return self.impact is not Impact.REVERSIBLE and not self.undo


LARGEST_SELECTION = 1_000_000
"""More units than this are acted on only if ``--max`` says so."""


class Limits(Struct, frozen=True, kw_only=True):
    """What the operator insists on besides the intent itself; the engine holds plan and apply to it.

    Attributes:
        expect: The plan must count exactly this many.
        fingerprint: The plan must have this one; empty for any.
        max_count: The plan must not count more; none for the engine's own bound.
        reason: Note for the audit log.
        unaudited: Go on where the audit log cannot be written (out of memory, no permission).
        rate: At most this many entries a second; none for as fast as it goes.
    """

    expect: int | None = None
    fingerprint: str = ""
    max_count: int | None = None
    reason: str = ""
    unaudited: bool = False
    rate: float | None = None

    @property
    def most(self) -> int:
        """How many units a plan may count."""
        return LARGEST_SELECTION if self.max_count is None else self.max_count


class Confirmation(Struct, frozen=True):
    """What the operator answered to a plan.

    Attributes:
        yes: Agreed: pressed Enter or Tab, or gave ``--yes``.
        typed: The text typed, or given as ``--confirm``: a count, ``yes``, or the target's name.
    """

    yes: bool = False
    typed: str = ""


class Skipped(Struct, frozen=True, gc=False):
    """One entry that was left as it was, or had changed meanwhile, and why."""

    id: str
    reason: str


class Failed(Struct, frozen=True, gc=False):
    """One entry that could not be acted on, and the error."""

    id: str
    error: str


class Progress(Struct, frozen=True, gc=False):
    """How far an operation is.

    Attributes:
        done: Units done, skipped or failed.
        total: Units of the plan.
        elapsed: Time since the first write.
        job: The job's ID; empty if it is none.
    """

    done: int
    total: int
    elapsed: timedelta
    job: str = ""

    @property
    def rate(self) -> float | None:
        """Units a second so far; none before the first second's tenth."""
        seconds = self.elapsed.total_seconds()
        return self.done / seconds if seconds > 0.1 else None  # noqa: PLR2004 - a tenth of a second

    @property
    def remaining(self) -> timedelta | None:
        """Time left at this rate; None if the rate is not known or zero."""
        rate = self.rate
        return timedelta(seconds=(self.total - self.done) / rate) if rate else None


KEPT = 1_000
"""Skipped and failed entries that an outcome names one by one; more are only counted."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a plan.

    Attributes:
        operation: The operation's name.
        target: What it acted on.
        requested: What the plan counted.
        applied: How many were done.
        skipped: Those left alone with their reasons, at most ``KEPT`` of them.
        skipped_count: How many were skipped in all.
        failed: Those that could not be done, at most ``KEPT`` of them.
        failed_count: How many failed in all.
        notes: What else is worth knowing, a sentence each.
        job: The job's ID, the token to resume with; empty if it was none, or was cancelled or taken over.
        audit_id: The audit record's ID; empty if none was written.
        elapsed: How long it took.
        complete: Whether it came to its end; otherwise the job can be resumed.
        stopped: Why it ended early; empty if it did not.
        removed_below: The ID below which a trim was free to remove entries; empty if nothing was removed by age.
    """

    operation: str
    target: str
    requested: int
    applied: int
    skipped: tuple[Skipped, ...] = ()
    skipped_count: int = 0
    failed: tuple[Failed, ...] = ()
    failed_count: int = 0
    notes: tuple[str, ...] = ()
    job: str = ""
    audit_id: str = ""
    elapsed: timedelta = timedelta(0)
    complete: bool = True
    stopped: str = ""
    removed_below: str = ""


class AuditPhase(StrEnum):
    """What an audit record says about an action."""

    BEGUN = "begun"
    BATCH = "batch"
    DONE = "done"
    FAILED = "failed"
    OTHER = "other"
    """Not one of ours, or of a version to come."""


class AuditRecord(Struct, frozen=True, kw_only=True):
    """One record of the audit log.

    Attributes:
        id: Its ID in the log; the action is known by the ID of its ``begun`` record.
        phase: What it tells.
        begun_id: The action's ``begun`` record; its own ID there.
        at: When, by the server's clock; None if its ID is no time.
        operation: The operation's name.
        target: What it acts on.
        actor: Who.
        reason: Why, in the operator's words.
        intent: The intent as JSON; empty in other records than ``begun``.
        plan: The plan; only in ``begun``.
        outcome: The outcome; only in ``done`` and ``failed``.
        undo: What undoing needs, as the operation packed it; only in ``batch`` and ``done``.
        undoes: The actions that this one takes back, the one that was asked for first; None if it takes none back.
        undone_by: The action that undid it; empty if none did.
        continues: The action whose job it goes on with; only in ``begun``, and empty if it begins again.
        snapshot_stream: The stream beside which its scripts keep rows as they were; only in ``begun``.
    """

    id: str
    phase: AuditPhase
    begun_id: str
    at: datetime | None
    operation: str
    target: str
    actor: Actor
    reason: str = ""
    intent: bytes = b""
    plan: Plan | None = None
    outcome: Outcome | None = None
    undo: bytes = b""
    undoes: tuple[str, ...] = ()
    undone_by: str = ""
    continues: str = ""
    snapshot_stream: str = ""


class Action(Struct, frozen=True):
    """One action as the audit log tells it.

    Attributes:
        first: Its ``begun`` record, with the plan; its last one where the log no longer holds that.
        last: Its last record, with the outcome; none while it is under way, and if it was cut off.
    """

    first: AuditRecord
    last: AuditRecord | None = None


class ActionPage(Struct, frozen=True):
    """Some actions of the audit log, newest first.

    Attributes:
        actions: The actions.
        next_id: Where the next page begins; None if there is no more.
        loose: Last records whose first ones are on a later page.
    """

    actions: tuple[Action, ...]
    next_id: EntryId | None = None
    loose: tuple[AuditRecord, ...] = ()


class JobState(StrEnum):
    """Where a job stands. A running one whose lease has run out has lost its owner and can be taken over."""

    RUNNING = "running"
    INTERRUPTED = "interrupted"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Job(Struct, frozen=True, kw_only=True):
    """A long operation as it stands in the server.

    Attributes:
        id: Its ID, the token to resume it with.
        operation: The operation's name.
        target: What it acts on.
        intent: The intent as JSON.
        state: Where it stands.
        owner: Who runs it, ``user@host:pid``.
        lease_ends: Until when it belongs to its owner; none if it has no owner.
        cursor: How far it is, in the operation's own words (an entry ID); empty at the beginning.
        until: The end, likewise; empty if it has none.
        requested: Units of the plan.
        applied: Units done.
        skipped: Units skipped.
        failed: Units failed.
        created_at: When it began.
        updated_at: When it last said something.
        cancelling: Whether it was asked to stop.
        abandoned: Whether it is running by its own word, and its lease had run out when it was read.
        audit_id: The audit record of the action that it is, or of the last one that went on with it.
        rate: At most this many units a second; none for no limit.
    """

    id: str
    operation: str
    target: str
    intent: bytes
    state: JobState
    owner: str
    lease_ends: datetime | None
    cursor: Passing[str]
    until: str
    requested: int
    applied: Passing[int]
    skipped: Passing[int]
    failed: Passing[int]
    created_at: datetime | None
    updated_at: datetime | None
    cancelling: bool = False
    abandoned: bool = False
    audit_id: str = ""
    rate: Passing[float | None] = None


class JobPage(Struct, frozen=True):
    """The newest long operations.

    Attributes:
        jobs: Those that could be read, newest first.
        gaps: Those that could not, by their keys, and why.
    """

    jobs: tuple[Job, ...]
    gaps: tuple[ReadError, ...] = ()
