"""What the screens of acting have read for them. Nothing here writes, but for asking a job to stop."""

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from streamops.model.acting import ActionPage, AuditRecord, Job, JobPage, Limits
from streamops.model.ids import EntryId
from streamops.tui.source import Source

if TYPE_CHECKING:  # Lists of what was done are looked at without the engine.
    from streamops.operations.operation import Prepared


class MakePlan(Struct, frozen=True):
    """A plan of an intent.

    Attributes:
        intent: What is to be done.
        limits: What the plan is held to.
        chosen: How many of the rows of a list it is about, in words: ``2 shown of 7``; empty if no list was chosen from.
    """

    intent: Struct
    limits: Limits = Limits()
    chosen: str = ""

    async def perform(self, source: Source) -> "Prepared[Any, Any]":
        """Read the evidence and make it."""
        return await source.prepare(self.intent, self.limits)


class PlanRest(Struct, frozen=True):
    """A plan of the rest of a job that was interrupted."""

    job: str

    async def perform(self, source: Source) -> "Prepared[Any, Any]":
        """Read the job and the evidence, and make it."""
        return await source.prepare_rest(self.job)


class ReadActions(Struct, frozen=True):
    """A page of the audit log: the newest, or the one after another."""

    count: int = 100
    after: ActionPage | None = None

    async def perform(self, source: Source) -> ActionPage:
        """Read it."""
        return await source.read_actions(self.count, self.after)


class ReadAction(Struct, frozen=True):
    """All records of one action."""

    id: EntryId

    async def perform(self, source: Source) -> list[AuditRecord]:
        """Read them."""
        return await source.read_action(self.id)


class ReadJobs(Struct, frozen=True):
    """The newest jobs."""

    limit: int = 100

    async def perform(self, source: Source) -> JobPage:
        """Read them."""
        return await source.read_job_page(self.limit)


class ReadJob(Struct, frozen=True):
    """One job."""

    id: str

    async def perform(self, source: Source) -> Job:
        """Read it."""
        return await source.read_job(self.id)


class CancelJob(Struct, frozen=True):
    """Ask a job to stop."""

    id: str

    async def perform(self, source: Source) -> bool:
        """Ask it; whether it is over at once."""
        return await source.cancel_job(self.id)


Planning: TypeAlias = MakePlan | PlanRest
