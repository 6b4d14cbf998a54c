"""Long operations as they stand in the server."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from streamops.model.fields import Passing
from streamops.model.snapshot import ReadError


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
        lease_ends: Until when it belongs to its owner; none where nobody holds it.
        cursor: How far it is, in the operation's own words (an entry ID); empty at the beginning.
        until: Where it ends, the same; empty where it has no such bound.
        requested: Units of the plan.
        applied: Units done.
        skipped: Units skipped.
        failed: Units failed.
        created_at: When it began.
        updated_at: When it last said something.
        cancelling: Whether somebody asked it to stop.
        abandoned: Whether it is running by its own word, and its lease had run out when it was read.
        audit_id: The audit record of the action that it is, or of the last one that went on with it.
        rate: At most so many units a second; none for no limit.
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
