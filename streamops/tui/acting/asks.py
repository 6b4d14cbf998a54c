"""What a plan is made of: an intent, or the rest of a job."""

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from streamops.model.acting import Limits
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


Planning: TypeAlias = MakePlan | PlanRest
