"""Messages that wait for their time: a queue beside a stream, and what is in it."""

from datetime import datetime

from msgspec import Struct

from streamops.model.text import name_bytes

ORIGIN_ID = b"_so_origin_id"
ATTEMPT = b"_so_attempt"


class DelayedBody(Struct, frozen=True):
    """What a delayed message becomes once it is due.

    Attributes:
        destination: The stream that it is added to: the queue's own, or the retry stream of one group.
        fields: Field and value pairs in their order; a name may repeat.
        group: The group that it is due again for; empty if it is a message for all.
        attempt: Which attempt of that group it will be; zero if it is none.
        origin_id: The ID of the entry that the group failed at; empty if there is none.
    """

    destination: str
    fields: tuple[tuple[bytes, bytes], ...]
    group: str = ""
    attempt: int = 0
    origin_id: str = ""

    @property
    def entry_fields(self) -> tuple[tuple[bytes, bytes], ...]:
        """The fields of the entry that it becomes: its own, then what a retry has to know about itself."""
        if not self.group:
            return self.fields
        return (
            *self.fields,
            (ORIGIN_ID, name_bytes(self.origin_id)),
            (ATTEMPT, str(self.attempt).encode()),
        )

    @property
    def size(self) -> int:
        """Bytes of all field names and values."""
        return sum(len(name) + len(value) for name, value in self.fields)


class DelayedMessage(Struct, frozen=True):
    """One message of a queue.

    Attributes:
        id: Its ID, any text.
        due_at: When it is due; None if the queue does not name it, so that it never will be.
        body: What it becomes; None if there is no body, or none that can be read.
        digest: SHA-1 of the body as it is stored; empty if there is none.
        problem: Why it cannot become an entry, in words; empty if it can.
        raw: The body as it is stored if it cannot be read; empty otherwise.
        foreign: Whether it is another program's member or body, which is never removed, moved or rescored.
    """

    id: str
    due_at: datetime | None
    body: DelayedBody | None
    digest: str = ""
    problem: str = ""
    raw: bytes = b""
    foreign: bool = False

    @property
    def exists(self) -> bool:
        """Whether there is anything of it at all."""
        return self.due_at is not None or bool(self.digest)


class DelayedQueue(Struct, frozen=True):
    """The delayed messages of one stream, counted.

    Attributes:
        stream: The stream.
        messages: How many there are.
        due: How many of them are due and wait only to be moved.
        next_due_at: When the first of them is due; None if there is none.
        bodies: How many bodies there are; another number than ``messages`` means that some lack the other half.
        foreign: How many members another program wrote, at the least.
    """

    stream: str
    messages: int
    due: int
    next_due_at: datetime | None
    bodies: int
    foreign: int = 0
