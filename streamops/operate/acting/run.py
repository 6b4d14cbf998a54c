"""One application of a plan as its applier sees it: a server to write to, and whom to tell of each batch."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from streamops.model.acting import Failed, Plan, Progress, Skipped
from streamops.operate.acting.audit import Trail
from streamops.operate.acting.jobs import HeldJob
from streamops.operate.acting.tally import Tally
from streamops.wire.server import Server

SMALLEST_PACE = 0.05
"""Seconds of work that one batch of a rate-limited operation is at least."""


class Run:
    """One application of a plan.

    Attributes:
        server: Where to write.
        tally: What was done so far.
        cursor: Where an interrupted job stopped, in the operation's own words; empty at the beginning.
    """

    def __init__(
        self,
        server: Server,
        plan: Plan,
        *,
        trail: Trail,
        job: HeldJob | None = None,
        rate: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.server = server
        self.tally = Tally()
        self.cursor = job.cursor if job else ""
        self._plan = plan
        self._trail = trail
        self._job = job
        self._rate = rate
        self._progress = progress
        self._began = time.monotonic()

    @property
    def job_id(self) -> str:
        """The job's ID; empty where it is none."""
        return self._job.id if self._job else ""

    @property
    def elapsed(self) -> timedelta:
        """Time since the first write."""
        return timedelta(seconds=time.monotonic() - self._began)

    @property
    def remaining(self) -> int:
        """Units of the plan that were not dealt with yet: no batch may take more."""
        return max(0, self._plan.count - self.tally.done)

    async def batch_size(self, most: int) -> int:
        """How many units the next batch may take; waits where a rate is set.

        Args:
            most: As many as one script call should take.
        """
        if self._rate is None:
            return min(most, self.remaining)
        ahead = self.tally.done / self._rate - self.elapsed.total_seconds()
        if ahead > 0:
            await asyncio.sleep(ahead)
        return min(most, self.remaining, max(1, int(self._rate * SMALLEST_PACE)))

    async def report(
        self,
        applied: int,
        *,
        cursor: str = "",
        skipped: Sequence[Skipped] = (),
        failed: Sequence[Failed] = (),
        undo: bytes = b"",
    ) -> None:
        """Tell of a batch that is done.

        Args:
            applied: Units done in it.
            cursor: Where the next one begins.
            skipped: Those left alone.
            failed: Those that could not be done.
            undo: What undoing this batch needs; kept in the audit log.

        Raises:
            JobStopped: Somebody cancelled the job, or took it over: write nothing more.
        """
        self.tally.add(applied, skipped, failed)
        if cursor:
            self.cursor = cursor
        if undo:
            await self._trail.batch(undo)
        if self._progress is not None:
            self._progress(Progress(self.tally.done, self._plan.count, self.elapsed, self.job_id))
        if self._job is not None:
            await self._job.beat(self.tally, self.cursor)

    def note(self, text: str) -> None:
        """Something worth telling at the end."""
        self.tally.note(text)
