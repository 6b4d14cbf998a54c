"""How far an operation is, and what became of it."""

from datetime import timedelta

from msgspec import Struct


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
        job: The job's ID; empty where it is none.
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
        """Time left at this rate; none where the rate is not known or zero."""
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
        job: The job's ID, the token to resume with; empty where it was none, or was cancelled or taken over.
        audit_id: The audit record's ID; empty where none was written.
        elapsed: How long it took.
        complete: Whether it came to its end; otherwise the job can be resumed.
        stopped: Why it ended early; empty where it did not.
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
