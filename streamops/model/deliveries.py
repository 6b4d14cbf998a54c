"""Deliveries: entries that a consumer takes over, acknowledges, retries or gives up, and what came of that.

These are made by the thousand: IDs are bytes and fields a flat list, both as the server wrote them, and nothing of
it concerns the garbage collector.
"""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct


class KeptPayload(Struct, frozen=True):
    """A payload as it was found.

    Attributes:
        key: Its key.
        size: Bytes of it.
        ttl: How long it is kept; None if it is forever.
        head: Its first bytes, as many as were asked for.
    """

    key: str
    size: int
    ttl: timedelta | None
    head: bytes


class TakenEntry(Struct, frozen=True, gc=False):
    """A pending entry that was taken over.

    Attributes:
        id: Its ID.
        fields: Names and values in turn, in their order; a name may repeat.
        deliveries: How often the server counts it as delivered, this time included. Reading history counts too.
        marks: How many of its starts were marked.
    """

    id: bytes
    fields: list[bytes]
    deliveries: int
    marks: int


class RecoveredPage(Struct, frozen=True, gc=False):
    """What one look at a group's pending entries brought.

    Attributes:
        entries: Entries that are ours now.
        gone: Entries that were deleted from the stream while they were pending, each with its deliveries. They are
            pending no more: this is the only trace of them.
        next: What to look after next time; empty if the end was reached.
    """

    entries: tuple[TakenEntry, ...] = ()
    gone: tuple[tuple[bytes, int], ...] = ()
    next: str = ""


class Message(Struct, frozen=True, gc=False):
    """A message that a handler published for its entry.

    Attributes:
        stream: The stream that it is added to.
        parts: Its names and values in turn.
        maxlen: About how many entries the stream keeps, the newest; all unless given.
    """

    stream: str
    parts: Sequence[bytes]
    maxlen: int | None = None


class AckRow(Struct, frozen=True, gc=False):
    """An entry that was handled.

    Attributes:
        id: Its ID.
        payload_key: The key of the payload that it refers to; None if it does not.
        digest: Of its fields, by which it is distinguished from another one of its ID; empty if there is no other.
        messages: What is added in the same step as it is acknowledged.
    """

    id: bytes
    payload_key: str | None = None
    digest: str = ""
    messages: Sequence[Message] = ()

    @property
    def size(self) -> int:
        """Bytes of its messages' names and values."""
        return sum(len(part) for message in self.messages for part in message.parts)


class Start(Struct, frozen=True, gc=False):
    """An entry whose handler is to start.

    Attributes:
        id: Its ID.
        marks: How many marked starts of it the caller knows of, by which a repeated call marks nothing twice.
        digest: Of its fields, as ``AckRow`` has it.
    """

    id: bytes
    marks: int
    digest: str = ""


class Acknowledged(Struct, frozen=True, gc=False):
    """What an acknowledgement came to.

    Attributes:
        acknowledged: How many entries it took off the list of pending ones.
        lost: IDs that were not pending under our name: another consumer took them over, or they were acknowledged
            already, perhaps by an earlier call whose reply was lost.
    """

    acknowledged: int = 0
    lost: tuple[bytes, ...] = ()


class ScheduledRetry(Struct, frozen=True, gc=False):
    """What is to be tried again later.

    Attributes:
        id: The entry's ID.
        delay_ms: After how many milliseconds, on the server's clock.
        attempt: Which attempt that will be.
        origin_id: The ID that it was born with; empty for its own.
        payload_key: The key of the payload that it refers to; None if it does not.
        digest: Of its fields, as ``AckRow`` has it.
    """

    id: bytes
    delay_ms: int
    attempt: int
    origin_id: str = ""
    payload_key: str | None = None
    digest: str = ""


class DeadLetterDraft(Struct, frozen=True, gc=False):
    """What is to be given up, and what its dead letter says of it.

    Attributes:
        entry_id: The entry's ID.
        reason: Why, in one word.
        error: The last error, in one bounded line.
        deliveries: How often it was delivered.
        attempt: How often it was tried.
        guard_key: The key of its guard, which is freed; None if it has none.
        payload_key: The key of the payload that it refers to, which from now on stays; None if it does not.
        origin_id: The ID that it was born with; empty for its own.
        digest: Of its fields, as ``AckRow`` has it.
    """

    entry_id: bytes
    reason: str
    error: str
    deliveries: int
    attempt: int
    guard_key: str | None = None
    payload_key: str | None = None
    origin_id: str = ""
    digest: str = ""


class Settled(StrEnum):
    """What became of an entry that was to be started, retried or given up."""

    DONE = "done"
    """It is if it was to go, and pending no more."""

    NOT_OURS = "not_ours"
    """It is not pending under our name: nothing was done. Either another consumer has it, or it was settled before,
    perhaps by an earlier call whose reply was lost."""

    SUPERSEDED = "superseded"
    """Another entry has its ID, on a server that replaced the one it came from, and is pending under our name: nothing
    was done."""

    GONE = "gone"
    """It was deleted from its stream while it was pending. A retry was not written, and it is pending still. A dead
    letter was: of reason ``payload-missing`` and without fields of its own."""

    TOO_WIDE = "too_wide"
    """It has more fields than a script can write, about 3,900, and cannot be delayed: nothing was done, and it is
    pending still. It can be given up."""

    GROUP_GONE = "group_gone"
    """There is no such group any more, or no such stream: nothing was done."""


class Renewed(Struct, frozen=True, gc=False):
    """What became of leases that were to be renewed, or given back.

    Attributes:
        lost: IDs that are not pending under our name.
        gone: IDs of ours whose entries were deleted from the stream: they are pending still, and nothing was renewed,
            because since Redis 7.0 claiming such an entry takes it off the list of pending ones.
        group_lost: Whether some are lost, and the group does not know our name, or is not there: a worker that has not been
            away for long knows by it that the group was destroyed.
    """

    lost: tuple[bytes, ...] = ()
    gone: tuple[bytes, ...] = ()
    group_lost: bool = False


class Registered(Struct, frozen=True, gc=False):
    """What became of entries that were to be pending again after their group was destroyed.

    Attributes:
        ours: IDs that are pending under our name now, or were all the time.
        lost: IDs that are pending under another one's.
        gone: IDs of entries that are in the stream no more, and pending under no name.
    """

    ours: tuple[bytes, ...] = ()
    lost: tuple[bytes, ...] = ()
    gone: tuple[bytes, ...] = ()
