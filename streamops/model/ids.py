"""Entry IDs."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

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
        """Parse ``ms-seq`` or ``ms``; raises ``ValueError`` where it is neither or out of 64-bit range."""
        return _parse(text)

    def __str__(self) -> str:
        return f"{self.ms}-{self.seq}"

    @property
    def time(self) -> datetime | None:
        """The instant the ID claims, or none where a calendar cannot hold it."""
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
def _parse(text: str | bytes) -> EntryId:
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
    """Age of an entry by its ID; none where the ID is no plausible time, or the clock unknown. Never negative."""
    made = entry_id.time
    if now is None or made is None or made < EARLIEST_PLAUSIBLE:
        return None
    age = now - made
    if age >= NO_TIME:
        return age
    return NO_TIME if age >= -CLOCK_TOLERANCE else None
