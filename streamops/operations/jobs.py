"""Jobs: long work that others can see, cancel, and take over when its owner is gone."""

import math
import time
from collections.abc import Sequence
from datetime import timedelta
from secrets import token_hex

from msgspec import Struct

from streamops.errors import ExitCode, Forbidden, NotFound, StalePlan, StreamopsError, UnexpectedReply
from streamops.model.acting import KEPT, Failed, Job, JobPage, JobState, Plan, Skipped
from streamops.model.streams import ReadError
from streamops.operations.packing import BY_ANOTHER, pack
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.server import Server
from streamops.wire.writes.jobs import (
    VERSION,
    Cancelling,
    Holding,
    JobClaim,
    JobHeartbeat,
    cancel_job,
    forget_jobs,
    job_key,
    list_jobs,
    read_jobs,
    renew_job,
    take_job,
)

HEARTBEAT_SECONDS = 1.0
"""A sign of life is given after each batch, but not more often than this."""


class JobStopped(StreamopsError):
    """A job ended before its work did: cancelled, or taken over by another process."""

    exit_code = ExitCode.PARTIAL


class JobCounts:
    """Counts what was done, and keeps the first of what was not.

    Attributes:
        applied: Units done.
        skipped: Units left alone.
        failed: Units that could not be done.
        skips: The first of those left alone, each with why.
        failures: The first of those that could not be done.
        notes: What is worth a note at the end.
        removed_below: The ID below which entries were removed; empty if none were.
    """

    def __init__(self) -> None:
        self.applied = 0
        self.skipped = 0
        self.failed = 0
        self.skips: list[Skipped] = []
        self.failures: list[Failed] = []
        self.notes: list[str] = []
        self.removed_below = ""

    @property
    def done(self) -> int:
        """Units that were dealt with, one way or another."""
        return self.applied + self.skipped + self.failed

    def add(self, applied: int, skipped: Sequence[Skipped], failed: Sequence[Failed]) -> None:
        """Count a batch."""
        self.applied += applied
        self.skipped += len(skipped)
        self.failed += len(failed)
        self.skips += skipped[: KEPT - len(self.skips)]
        self.failures += failed[: KEPT - len(self.failures)]

    def note(self, text: str) -> None:
        """Remember something that is worth a note at the end; each text once."""
        if text not in self.notes:
            self.notes.append(text)


class HeldJob:
    """A job that this process holds.

    Attributes:
        id: Its ID, the token to resume it with.
        cursor: Where it stands.
    """

    def __init__(self, server: Server, job_id: str, owner: str, cursor: str = "") -> None:
        self._server = server
        self._owner = owner
        # The first batch is recorded immediately: without a cursor a fresh job looks like one under way.
        self._beaten = -math.inf
        self._before = JobCounts()
        self.id = job_id
        self.cursor = cursor

    @classmethod
    async def create(
        cls, server: Server, owner: str, plan: Plan, intent: Struct, *, audit_id: str, rate: float | None
    ) -> "HeldJob":
        """Create and take a job; raises ``StreamopsError`` if that is not possible."""
        job_id = token_hex(6)
        fields: dict[str, str | bytes | int] = {
            "v": VERSION,
            "operation": plan.operation,
            "target": plan.target,
            "intent": pack(intent),
            "cursor": "",
            "requested": plan.count,
            "audit_id": audit_id,
            "rate": "" if rate is None else str(rate),
        }
        await take_job(server, job_id, owner, fields, new=True)
        return cls(server, job_id, owner)

    @classmethod
    async def take_over(
        cls, server: Server, owner: str, job: Job, *, rest: int, audit_id: str, fixed: bool = False
    ) -> "HeldJob":
        """Take a job whose lease has expired.

        Args:
            server: Where.
            owner: Who takes it.
            job: The job as it was read.
            rest: Units that are left to do.
            audit_id: The action that goes on with it; empty if that leaves no record.
            fixed: Whether what is left and was said to be done was thrown away, and did not join later.

        Raises:
            Forbidden: Another process holds it, or it is over.
            StalePlan: Another process has resumed it since it was read.
        """
        taken = await take_job(server, job.id, owner, {"cursor": job.cursor}, new=False)
        if isinstance(taken, Holding):
            raise held_by(job.id, taken.owner, taken.left)
        if taken is JobClaim.OVER:
            raise over(job.id)
        if taken is JobClaim.MOVED:
            raise StalePlan(
                f"job {job.id}: another process has taken it over",
                "Nothing was done. `streamops jobs show` names that process.",
            )
        held = cls(server, job.id, owner, job.cursor)
        held._before.applied, held._before.skipped, held._before.failed = _dealt_with(job, rest, fixed=fixed)
        fields = {**held._fields(JobCounts()), "audit_id": audit_id or job.audit_id}
        await renew_job(server, job.id, owner, fields)
        return held

    async def heartbeat(self, counts: JobCounts, cursor: str, *, at_once: bool = False) -> None:
        """Say how far it is, at once or from time to time; raises ``JobStopped`` if it must stop."""
        self.cursor = cursor
        if not at_once and time.monotonic() - self._beaten < HEARTBEAT_SECONDS:
            return
        self._beaten = time.monotonic()
        told = await renew_job(self._server, self.id, self._owner, self._fields(counts))
        if told is JobHeartbeat.LOST:
            raise JobStopped(f"job {self.id} was taken over", "The process that holds it continues it.")
        if told is JobHeartbeat.CANCEL:
            raise JobStopped(f"job {self.id} was cancelled", "What it did stays done.")

    async def end(self, counts: JobCounts, cursor: str, state: JobState) -> None:
        """Let it go; raises ``ServerError`` if the server does not answer."""
        self.cursor = cursor
        await renew_job(self._server, self.id, self._owner, {**self._fields(counts), "state": state})

    def _fields(self, counts: JobCounts) -> dict[str, str | bytes | int]:
        before = self._before
        return {
            "cursor": self.cursor,
            "applied": before.applied + counts.applied,
            "skipped": before.skipped + counts.skipped,
            "failed": before.failed + counts.failed,
        }


def _dealt_with(job: Job, rest: int, *, fixed: bool) -> tuple[int, int, int]:
    """Units applied, skipped and failed before a job is resumed.

    A job whose owner was killed did more than it could tell: what is not left to do was done. One whose primary was
    replaced did less: its last batches may be gone, and are left to do again.
    """
    dealt = max(0, job.requested - rest - job.skipped - job.failed)
    applied = max(job.applied, dealt) if job.state is JobState.RUNNING else job.applied
    return min(applied, dealt) if fixed else applied, job.skipped, job.failed


def held_by(job_id: str, owner: str, left: timedelta | None) -> Forbidden:
    """The error for a job that another process holds, with the time left if that is known."""
    end = f"in {max(1, round(left.total_seconds()))} s" if left else "soon"
    return Forbidden(
        f"job {job_id} is held by {owner}",
        f"Its lease ends {end} unless it continues; `streamops jobs cancel {job_id}` asks it to stop.",
    )


def over(job_id: str) -> Forbidden:
    """The error for a job that has come to its end."""
    return Forbidden(f"job {job_id} is over", "Start a new one.")


async def ask_to_stop(server: Server, job_id: str) -> bool:
    """Cancel a job: its owner stops after the batch under way; one that no process runs is over immediately.

    Returns:
        Whether it is over at once.

    Raises:
        NotFound: There is none.
        Forbidden: It is over already.
    """
    told = await cancel_job(server, job_id)
    if told is Cancelling.NONE:
        raise _no_job(job_id)
    if told is Cancelling.OVER:
        raise Forbidden(f"job {job_id} is over", "There is nothing left to stop.")
    return told is Cancelling.CANCELLED


async def find_job(server: Server, job_id: str) -> Job:
    """A job by its ID; raises ``NotFound`` if there is none, and ``UnexpectedReply`` if it is of another version."""
    (job,) = await read_jobs(server, [job_id])
    if isinstance(job, Fault):
        if job.kind is FaultKind.OTHER:
            raise UnexpectedReply(f"job {job_id}: {job.reason}", BY_ANOTHER)
        raise job.error(f"job {job_id}")
    if job is None:
        raise _no_job(job_id)
    return job


async def all_jobs(server: Server, limit: int, *, tidy: bool) -> JobPage:
    """The newest jobs, newest first; ``tidy`` takes those off the list that the server has forgotten."""
    ids = await list_jobs(server, limit)
    jobs = await read_jobs(server, ids)
    if tidy:
        await forget_jobs(server, [one for one, job in zip(ids, jobs, strict=True) if job is None])
    gaps = [
        ReadError(job.reason, part=job_key(one))
        for one, job in zip(ids, jobs, strict=True)
        if isinstance(job, Fault)
    ]
    return JobPage(tuple([job for job in jobs if isinstance(job, Job)]), tuple(gaps))


def _no_job(job_id: str) -> NotFound:
    return NotFound(f"there is no job {job_id}", "`streamops jobs ls` lists them; they are kept for 7 days.")
