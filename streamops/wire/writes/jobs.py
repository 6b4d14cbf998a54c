"""Jobs in the server: a hash each, and one sorted set that lists them by their beginning."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Any, Final

from msgspec import Struct

from streamops.model.acting import Job, JobState
from streamops.model.entries import EPOCH
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, FaultKind, fault, required
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name, decode_time, span
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

JOB_PREFIX: Final = "streamops:job:"
JOBS: Final = "streamops:jobs"
LEASE: Final = timedelta(seconds=30)
VERSION: Final = 1
"""Of the hash: a job of another one is not gone on with."""
_DIGITS: Final = 3
"""A version of more is none."""
KEPT: Final = timedelta(days=7)
"""A job that says nothing for so long is forgotten, and its token with it."""


class Holding(Struct, frozen=True):
    """Who holds a job, and for how much longer."""

    owner: str
    left: timedelta


class JobHeartbeat(StrEnum):
    """What a job's owner is told when it renews its lease."""

    OK = "ok"
    CANCEL = "cancel"
    LOST = "lost"


class Cancelling(StrEnum):
    """What came of asking a job to stop."""

    ASKED = "asked"
    CANCELLED = "cancelled"
    OVER = "over"
    NONE = "none"


class JobClaim(IntEnum):
    """Whether a job could be taken."""

    YES = 1
    OVER = 0
    MOVED = -1


async def take_job(
    server: Server, job_id: str, owner: str, fields: Mapping[str, Argument], *, new: bool
) -> JobClaim | Holding:
    """Take a job.

    Args:
        server: Where.
        job_id: The job.
        owner: Who takes it.
        fields: A new job's fields; for one that is there already, those that must be as they were.
        new: Whether it is a new one.

    Returns:
        Whether that was possible, or who still holds it.
    """
    arguments = (*_lease(owner), "new" if new else "taken", *_flat(fields))
    what = "the job cannot be written" if new else f"job {job_id}"
    taken = await write_script(server, "job_take", Call(job_key(job_id), arguments, _taken), what)
    if new and taken is JobClaim.YES:
        required(await server.single(JOBS, "ZADD", JOBS, await _now_ms(server), job_id), what)
    return taken


async def renew_job(server: Server, job_id: str, owner: str, fields: Mapping[str, Argument]) -> JobHeartbeat:
    """Give a sign of life, with how far the job is."""
    arguments = (*_lease(owner), *_flat(fields))
    call = Call(job_key(job_id), arguments, lambda reply: JobHeartbeat(reply.decode()))
    return await write_script(server, "job_heartbeat", call, f"job {job_id}")


async def cancel_job(server: Server, job_id: str) -> Cancelling:
    """Ask a job's owner to stop; what came of it."""
    call = Call(job_key(job_id), (), lambda reply: Cancelling(reply.decode()))
    return await write_script(server, "job_cancel", call, f"job {job_id}")


async def read_jobs(server: Server, job_ids: Sequence[str]) -> list[Job | Fault | None]:
    """Jobs by their IDs, in their order."""
    requests = [Request(job_key(one), ("HGETALL", job_key(one))) for one in job_ids]
    *replies, clock = (await server.batch([*requests, Request(JOBS, ("TIME",))])).replies
    now = None if isinstance(clock, Exception) else decode_time(clock)
    return [
        _refused(reply) if isinstance(reply, Exception) else decode_job(job_id, reply, now)
        for job_id, reply in zip(job_ids, replies, strict=True)
    ]


async def list_jobs(server: Server, limit: int) -> list[str]:
    """IDs of the newest jobs, newest first."""
    reply = await server.single(JOBS, "ZRANGE", JOBS, 0, limit - 1, "REV")
    return [decode_name(one) for one in required(reply, "the list of jobs")]


async def forget_jobs(server: Server, job_ids: Sequence[str]) -> None:
    """Take IDs off the list whose jobs are gone; a failure does no harm."""
    if job_ids:
        await server.single(JOBS, "ZREM", JOBS, *job_ids)


def job_key(job_id: str) -> str:
    """The key of a job's hash."""
    return f"{JOB_PREFIX}{job_id}"


def _lease(owner: str) -> tuple[Argument, ...]:
    return owner, int(LEASE.total_seconds() * 1000), int(KEPT.total_seconds())


def _flat(fields: Mapping[str, Argument]) -> tuple[Argument, ...]:
    return tuple(part for pair in fields.items() for part in pair)


def _taken(reply: Reply) -> JobClaim | Holding:
    if isinstance(reply, list):
        return Holding(decode_name(reply[0]), span(reply[1]))
    return JobClaim(reply)


def decode_job(job_id: str, reply: Sequence[bytes], now: datetime | None) -> Job | Fault | None:
    """A job from HGETALL's reply; None if there is none, a fault where its hash is nothing of ours."""
    try:
        return _job(job_id, reply, now)
    except (ValueError, OverflowError):
        # The error would quote the hash's content, which is untrusted.
        return Fault(FaultKind.OTHER, "its hash holds what no job does")


def _job(job_id: str, reply: Sequence[bytes], now: datetime | None) -> Job | Fault | None:
    fields: dict[str, Any] = dict(zip(map(decode_name, reply[::2]), reply[1::2], strict=True))
    if "state" not in fields:
        return None
    if (version := fields.get("v", b"%d" % VERSION)) != b"%d" % VERSION:
        return Fault(FaultKind.OTHER, f"written in {_version(version)} of the format")

    def text(name: str) -> str:
        return decode_name(fields.get(name, b""))

    def number(name: str) -> int:
        return int(fields.get(name, 0))

    def instant(name: str) -> datetime | None:
        return EPOCH + timedelta(milliseconds=number(name)) if number(name) else None

    state = JobState(text("state"))
    lease_ends = instant("lease_ms") if state is JobState.RUNNING else None
    return Job(
        id=job_id,
        operation=text("operation"),
        target=text("target"),
        intent=fields.get("intent", b""),
        state=state,
        owner=text("owner"),
        lease_ends=lease_ends,
        cursor=text("cursor"),
        until=text("until"),
        requested=number("requested"),
        applied=number("applied"),
        skipped=number("skipped"),
        failed=number("failed"),
        created_at=instant("created_ms"),
        updated_at=instant("updated_ms"),
        cancelling=text("cancel") == "1",
        abandoned=state is JobState.RUNNING and now is not None and (lease_ends or EPOCH) < now,
        audit_id=text("audit_id"),
        rate=float(text("rate")) if text("rate") else None,
    )


def _refused(error: Exception) -> Fault:
    """Why a job's hash was not told."""
    why = fault(error)
    return Fault(FaultKind.OTHER, "its key holds no hash") if why.kind is FaultKind.WRONG_TYPE else why


def _version(told: bytes) -> str:
    """A version in words; what is no number is not repeated."""
    return f"version {told.decode()}" if told.isdigit() and len(told) <= _DIGITS else "another version"


async def _now_ms(server: Server) -> int:
    reply = await server.single(JOBS, "TIME")
    return 0 if isinstance(reply, Exception) else int(reply[0]) * 1000 + int(reply[1]) // 1000
