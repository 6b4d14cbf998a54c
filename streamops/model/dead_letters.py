"""Dead letters: entries that a group gave up, with what is known of why."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from streamops.model.entries import StreamEntry
from streamops.model.ids import EntryId

Fields = tuple[tuple[bytes, bytes], ...]


class DeadLetterShape(StrEnum):
    """Who wrote a letter, by its shape."""

    OURS = "ours"
    """The entry's own fields, then reserved ones that say where it came from and why."""

    FOREIGN = "foreign"
    """``{orig_id, reason, payload}`` with the entry's fields as a JSON object."""

    PLAIN = "plain"
    """Anything else: an entry as it stands."""


class DeadLetter(Struct, frozen=True, kw_only=True, gc=False):
    """One dead letter; what it does not say is none or empty.

    Attributes:
        entry: The letter itself, byte for byte.
        queue: The dead-letter queue.
        fields: The entry's own fields, in order and byte for byte.
        shape: Who wrote it.
        origin: The stream that the entry came from; by the queue's name where the letter does not say.
        origin_id: The entry's ID there.
        born_id: The ID that it had before any replay; the same where there was none.
        group: The group that gave it up.
        consumer: The consumer that tried last.
        reason: Why, in one word.
        error: The last error in words.
        deliveries: How often it had been delivered.
        attempt: How often it had been tried.
        failed_at: When it was given up.
        replays: How often it was replayed before it died this time.
        payload_key: The key of a payload that is kept beside the stream.
        problem: Why a letter that looks like others' could not be taken apart; empty where it could.
    """

    entry: StreamEntry
    queue: str
    fields: Fields
    shape: DeadLetterShape
    origin: str | None = None
    origin_id: EntryId | None = None
    born_id: EntryId | None = None
    group: str | None = None
    consumer: str | None = None
    reason: str = ""
    error: str = ""
    deliveries: int | None = None
    attempt: int | None = None
    failed_at: datetime | None = None
    replays: int = 0
    payload_key: str | None = None
    problem: str = ""

    @property
    def id(self) -> EntryId:
        """Its ID in the queue."""
        return self.entry.id


class DeadLetterKind(Struct, frozen=True, order=True):
    """What letters have in common: the stream and group they name, and the reason; empty where they do not."""

    stream: str
    group: str
    reason: str


class DeadLetterCounts(Struct, frozen=True):
    """Letters of a queue, counted.

    Attributes:
        letters: How many were counted.
        kinds: How many of each kind, the most frequent first.
        payloads: How many refer to a payload that is kept beside the stream.
        last_id: The last one's ID; none where there is none.
    """

    letters: int
    kinds: tuple[tuple[DeadLetterKind, int], ...] = ()
    payloads: int = 0
    last_id: EntryId | None = None

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """How many died of each reason, the most frequent first."""
        counts: dict[str, int] = {}
        for kind, number in self.kinds:
            counts[kind.reason] = counts.get(kind.reason, 0) + number
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


class QueueSummary(Struct, frozen=True, kw_only=True):
    """A dead-letter queue as a whole.

    Attributes:
        queue: Its name.
        length: How many letters it holds.
        source: The stream it serves; none where neither its name nor the configuration tells.
        oldest_id: Its first letter's ID; none where it is empty.
        newest_id: Its last letter's ID.
        tally: The letters that were looked at: a sample where there are many.
        now: The server's clock; none where it may not be asked.
    """

    queue: str
    length: int
    source: str | None
    oldest_id: EntryId | None
    newest_id: EntryId | None
    tally: DeadLetterCounts
    now: datetime | None

    @property
    def coverage(self) -> float:
        """The share of the letters that were looked at."""
        return min(1.0, self.tally.letters / self.length) if self.length else 1.0
