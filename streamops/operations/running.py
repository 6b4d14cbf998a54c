"""One application of a plan: the server to write to, and where each batch is reported."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TypeVar

from streamops.errors import StreamopsError, Unreachable
from streamops.model.acting import Actor, Failed, Limits, Outcome, Plan, Progress, Skipped
from streamops.operations.audit_writer import AuditWriter
from streamops.operations.jobs import HeldJob, JobCounts
from streamops.targets.targets import Targets
from streamops.wire.server import Server


class StopAsked(StreamopsError):
    """The operation was asked to stop after the batch under way."""


Unit = TypeVar("Unit")

SMALLEST_PACE = 0.05
"""Seconds of work that one batch of a rate-limited operation is at least."""


ROWS_GATHERED = 12_000
"""Rows kept beside a stream that are put into the audit log together: about a record."""

BREATH = 5.0
"""Seconds between two renewals of a lease of a job that waits."""


class Run:
    """One application of a plan.

    Attributes:
        server: Where to write.
        targets: Who runs the workers of pools.
        reason: Why, as the operator put it; empty if nothing was said.
        counts: What was done so far.
        most: What the operator allows where more turns up than the plan counted, and that can be counted.
        audit: Its records in the audit log.
        job: The job that it is; None if it is none.
        cursor: Where an interrupted job stopped, in the operation's own words; empty at the beginning.
    """

    def __init__(
        self,
        server: Server,
        plan: Plan,
        *,
        audit: AuditWriter,
        targets: Targets | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        job: HeldJob | None = None,
        progress: Callable[[Progress], None] | None = None,
        stop: asyncio.Event | None = None,
    ) -> None:
        self.server = server
        self.targets = targets or Targets()
        self.reason = limits.reason
        self.counts = JobCounts()
        self.most = limits.most if limits.expect is None else min(limits.expect, limits.most)
        self.cursor = job.cursor if job else ""
        self._plan = plan
        self.audit = audit
        self.job = job
        self._rate = limits.rate
        self._progress = progress
        self._stop = stop or asyncio.Event()
        self._began = time.monotonic()
        self._kept = 0
        self._changes = server.changes

    @property
    def audit_id(self) -> str:
        """The action's ID in the audit log; empty if none was written."""
        return self.audit.id

    @property
    def snapshot(self) -> str:
        """The hash in which scripts keep rows as they were; empty if nowhere."""
        return self.audit.snapshot

    @property
    def actor(self) -> Actor:
        """Who acts."""
        return self.audit.actor

    @property
    def elapsed(self) -> timedelta:
        """Time since the first write."""
        return timedelta(seconds=time.monotonic() - self._began)

    @property
    def remaining(self) -> int:
        """Units of the plan that were not dealt with yet: no batch may take more."""
        return max(0, self._plan.count - self.counts.done)

    def outcome(self, stopped: str = "") -> Outcome:
        """The outcome as it stands, and why it stopped before the end; empty if it did not."""
        plan, counts = self._plan, self.counts
        return Outcome(
            operation=plan.operation,
            target=plan.target,
            requested=max(plan.count, counts.done) if plan.recurring else plan.count,
            applied=counts.applied,
            skipped=tuple(counts.skips),
            skipped_count=counts.skipped,
            failed=tuple(counts.failures),
            failed_count=counts.failed,
            notes=tuple(counts.notes),
            job=self.job.id if self.job else "",
            audit_id=self.audit_id,
            elapsed=self.elapsed,
            complete=not stopped,
            stopped=stopped,
            removed_below=counts.removed_below,
        )

    async def batch_size(self, most: int, done: int | None = None) -> int:
        """How many units the next batch may take; waits where a rate is set.

        Args:
            most: As many as one script call should take.
            done: Units that will have been dealt with by then, where the last of them are yet to be reported.

        Raises:
            StopAsked: It was asked to stop: write nothing more.
        """
        self._check_stop()
        done = self.counts.done if done is None else done
        left = most if self._plan.recurring else max(0, self._plan.count - done)
        if self._rate is None:
            return min(most, left)
        ahead = done / self._rate - self.elapsed.total_seconds()
        if ahead > 0:
            await self._pause(ahead)
        return min(most, left, max(1, int(self._rate * SMALLEST_PACE)))

    async def batches(self, units: Sequence[Unit], most: int) -> AsyncIterator[Sequence[Unit]]:
        """Units in batches, each as large as ``batch_size`` allows by then; raises as that does."""
        while units and (size := await self.batch_size(most)):
            yield units[:size]
            units = units[size:]

    async def report(
        self,
        applied: int,
        *,
        cursor: str = "",
        skipped: Sequence[Skipped] = (),
        failed: Sequence[Failed] = (),
        undo: bytes = b"",
        kept: int = 0,
        at_once: bool = False,
    ) -> None:
        """Tell of a batch that is done.

        Args:
            applied: Units done in it.
            cursor: Where the next one begins.
            skipped: Those left alone.
            failed: Those that could not be done.
            undo: What undoing this batch needs; kept in the audit log.
            kept: Rows that the script itself has kept for it beside the stream.
            at_once: Whether the job has to know the cursor before anything else happens.

        Raises:
            JobStopped: The job was cancelled, or taken over: write nothing more.
            StopAsked: It was asked to stop: write nothing more.
        """
        self.counts.add(applied, skipped, failed)
        if cursor:
            self.cursor = cursor
        if undo:
            await self.audit.batch(undo)
        await self._gather(kept)
        if self._progress is not None:
            self._progress(
                Progress(self.counts.done, self._plan.count, self.elapsed, self.job.id if self.job else "")
            )
        if self.job is not None:
            await self.job.heartbeat(self.counts, self.cursor, at_once=at_once)
        self._check_server()
        if self.remaining:
            self._check_stop()

    async def _gather(self, kept: int) -> None:
        self._kept += kept
        if self._kept >= ROWS_GATHERED:
            self._kept = 0
            await self.audit.gather_ahead()

    async def wait(self, duration: timedelta) -> None:
        """Wait until it is time again; raises ``StopAsked`` if it was asked to stop."""
        await self._pause(duration.total_seconds())

    async def _pause(self, seconds: float) -> None:
        """Wait and renew the job's lease meanwhile: a job that waits for its rate is alive."""
        while seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, BREATH)):
                    await self._stop.wait()
            self._check_stop()
            seconds -= BREATH
            if self.job is not None:
                await self.job.heartbeat(self.counts, self.cursor)

    def _check_stop(self) -> None:
        self._check_server()
        if self._stop.is_set():
            raise StopAsked("interrupted")

    def _check_server(self) -> None:
        """Refuse if the server was replaced: what was done there may be lost."""
        if self.server.changes != self._changes:
            raise Unreachable(
                "the Sentinels name another primary than when this began",
                "Check what was applied: writes that the former primary had not replicated are lost.",
            )

    def note(self, text: str) -> None:
        """Something worth a note at the end."""
        self.counts.note(text)
