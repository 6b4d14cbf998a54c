"""Entry IDs, entries, and entries that wait for an acknowledgement."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

MAX_PART = 2**64 - 1
PARTS = 2
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EntryId(NamedTuple):
    """A stream entry ID ``<ms>-<seq>``, ordered as Redis orders it.

    A named tuple rather than a struct: IDs are compared and parsed by the thousand in every
    collection, and tuples do both in C.

    Attributes:
        ms: The first part, milliseconds since the epoch where the server made the ID.
        seq: The second part, the sequence number within that millisecond.
    """

    ms: int
    seq: int

    @staticmethod
    def parse(text: str | bytes) -> "EntryId":
        """Parse ``ms-seq`` or ``ms``; raises ``ValueError`` if it is neither or out of 64-bit range."""
        return parse_id(text)

    def __str__(self) -> str:
        return f"{self.ms}-{self.seq}"

    @property
    def time(self) -> datetime | None:
        """The instant the ID claims, or None if a calendar cannot hold it."""
        return _time(self.ms)

    def next(self) -> "EntryId":
        """The smallest ID greater than this one; raises ``OverflowError`` after the last."""
        if self.seq < MAX_PART:
            return EntryId(self.ms, self.seq + 1)
        if self.ms < MAX_PART:
            return EntryId(self.ms + 1, 0)
        raise OverflowError("no entry ID follows the last one")

    def previous(self) -> "EntryId":
        """The greatest ID smaller than this one; raises ``OverflowError`` before the first."""
        if self.seq:
            return EntryId(self.ms, self.seq - 1)
        if self.ms:
            return EntryId(self.ms - 1, MAX_PART)
        raise OverflowError("no entry ID precedes the first one")


# The same IDs come again with every collection: several a group, of some ten thousand groups.
@lru_cache(maxsize=1 << 14)
def _time(ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(ms / 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None


@lru_cache(maxsize=1 << 14)
def parse_id(text: str | bytes) -> EntryId:
    """The same as ``EntryId.parse``, for callers that parse thousands."""
    plain = text.decode("ascii") if isinstance(text, bytes) else text
    parts = plain.split("-")
    if len(parts) > PARTS or not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"not an entry ID: {plain!r}")
    ms, seq = int(parts[0]), int(parts[1]) if len(parts) == PARTS else 0
    if ms > MAX_PART or seq > MAX_PART:
        raise ValueError(f"entry ID out of range: {plain!r}")
    return EntryId(ms, seq)


ZERO_ID = EntryId(0, 0)
LAST_ID = EntryId(MAX_PART, MAX_PART)

EARLIEST_PLAUSIBLE = datetime(2015, 1, 1, tzinfo=UTC)
CLOCK_TOLERANCE = timedelta(minutes=1)
NO_TIME = timedelta(0)


def id_age(entry_id: EntryId, now: datetime | None) -> timedelta | None:
    """Age of an entry by its ID; None if the ID is no plausible time, or the clock unknown. Never negative."""
    made = entry_id.time
    if now is None or made is None or made < EARLIEST_PLAUSIBLE:
        return None
    age = now - made
    if age >= NO_TIME:
        return age
    return NO_TIME if age >= -CLOCK_TOLERANCE else None


class StreamEntry(Struct, frozen=True, gc=False):
    """One entry, byte for byte.

    Attributes:
        id: The entry's ID.
        fields: Field and value pairs in their order; a name may repeat.
    """

    id: EntryId
    fields: tuple[tuple[bytes, bytes], ...]

    @property
    def size(self) -> int:
        """Bytes of all field names and values."""
        return sum(len(name) + len(value) for name, value in self.fields)


GIVEN_BACK: Final = timedelta(days=30)
"""How idle streamops makes a pending entry look that it gives back: longer than any reclaimer waits."""


class PendingEntry(Struct, frozen=True, gc=False):
    """One row of a group's pending entries list, as XPENDING gives it.

    Attributes:
        id: The entry's ID; the entry itself may be gone from the stream.
        consumer: Its owner.
        idle: Time since its last delivery (or claim), on the server's clock.
        delivery_count: How often the server counted a delivery. History reads and claims count too,
            and a failover may lower it.
    """

    id: EntryId
    consumer: str
    idle: timedelta
    delivery_count: int

    @property
    def free(self) -> bool:
        """Whether it was given back, for any consumer to take over at once; ``idle`` then tells no time."""
        return self.idle >= GIVEN_BACK


class Amount(Struct, frozen=True):
    """How many entries, as far as that was counted.

    Attributes:
        lower: At least this many.
        upper: At most this many.
    """

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the count is known."""
        return self.lower == self.upper
