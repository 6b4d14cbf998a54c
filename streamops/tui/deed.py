"""One application of a plan as the console shows it, wherever one is. Frozen: it is passed down with the moment."""

from typing import Any

from msgspec import Struct

from streamops.errors import StreamopsError
from streamops.model.acting import Outcome, Plan, Progress


class Deed(Struct, frozen=True, kw_only=True):
    """What became of a plan so far.

    Attributes:
        number: Which one it is, counted from the start of the console.
        plan: The plan.
        prepared: What the engine prepared it as.
        progress: How far it is; none before its first batch.
        job: The job's ID; empty where it is none.
        stopping: Whether the person asked it to stop after the batch under way.
        outcome: What became of it; none while it runs, and where nothing was done.
        error: Why it ended early, or never began; none where it did neither.
    """

    number: int
    plan: Plan
    prepared: Any
    progress: Progress | None = None
    job: str = ""
    stopping: bool = False
    outcome: Outcome | None = None
    error: StreamopsError | None = None

    @property
    def running(self) -> bool:
        """Whether it is still under way."""
        return self.outcome is None and self.error is None

    @property
    def name(self) -> str:
        """What is done to what. Not yet safe to show."""
        return f"{self.plan.operation} {self.plan.target}"
