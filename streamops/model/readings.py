"""Readings: streams and groups as the server told them, before anything was made of it."""

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.consumer_table import ConsumerColumns, Delivery
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId


class GroupReading(Struct, frozen=True, gc=False):
    """One group in one reading; its fields mean what they mean in ``ConsumerGroup``.

    Attributes:
        name: The group's name.
        consumers: How many consumers it has.
        pending: Entries delivered and not acknowledged.
        last_delivered_id: Its position.
        entries_read: The server's logical read counter; none where it has none.
        reported_lag: The server's lag; none where it gave none.
        oldest_pending: The pending entry with the smallest ID; none where none is pending or it was not read.
        next_id: The first entry after the position; none where there is none or it was not read.
        next_read: Whether ``next_id`` was read at all.
        members: Its consumers; none where they were not read together with it.
        oldest_delivery: What ``oldest_pending`` is, where the server told an instant of it and no age.
    """

    name: str
    consumers: int
    pending: int
    last_delivered_id: EntryId
    entries_read: int | None
    reported_lag: int | None
    oldest_pending: PendingEntry | None = None
    next_id: EntryId | None = None
    next_read: bool = False
    members: ConsumerColumns | None = None
    oldest_delivery: Delivery | None = None


class StreamReading(Struct, frozen=True, gc=False):
    """One stream and its groups, read at one instant.

    Attributes:
        name: The key.
        length: Entries in it.
        groups: Its groups, by name.
        bounds_read: Whether the fields below were read; without them only the length is known.
        first_id: ID of its first entry; none where it is empty.
        last_id: ID of its last entry; none where it is empty, or only the first entry was read.
        last_generated_id: The highest ID it ever had.
        entries_added: Entries ever added; none before Redis 7.0.
        max_deleted_id: The highest ID deleted by XDEL; none before Redis 7.0.
        entry_bytes: Size of the larger of its first and last entry.
    """

    name: str
    length: int
    groups: tuple[GroupReading, ...]
    bounds_read: bool = False
    first_id: EntryId | None = None
    last_id: EntryId | None = None
    last_generated_id: EntryId | None = None
    entries_added: int | None = None
    max_deleted_id: EntryId | None = None
    entry_bytes: int | None = None

    @property
    def end_id(self) -> EntryId | None:
        """No entry has a higher ID: the last one's, else the highest there ever was; none where neither was read."""
        return self.last_generated_id if self.last_id is None else self.last_id

    @property
    def without_groups(self) -> "StreamReading":
        """The reading without its groups: a small thing to keep."""
        return replace(self, groups=())
