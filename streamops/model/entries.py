"""Entries of a stream, and entries that wait for an acknowledgement."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.model.ids import EntryId


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
    """One row of a group's pending entries list, as XPENDING tells it.

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
        lower: At least so many.
        upper: At most so many.
    """

    lower: int
    upper: int

    @property
    def exact(self) -> bool:
        """Whether the count is known."""
        return self.lower == self.upper
