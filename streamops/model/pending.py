"""Pending entries as operations select them: which fit, which do not, and what is known of the selection."""

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from streamops.model.entries import EntryId, PendingEntry


class PendingProfile(Struct, frozen=True, gc=False):
    """What a rolling scan over a group's pending entries has seen so far.

    A scan goes by pages from the lowest ID up and starts again at the end; its numbers describe the
    share of the list that ``coverage`` says.

    Attributes:
        scanned: Rows seen in this pass, or in the last whole pass where that is fresher.
        coverage: Share of the pending entries those rows are, 0 to 1.
        idle_buckets: Rows by idle time, except those that were given back, one count per bound of ``IDLE_BOUNDS`` and one beyond the last.
        delivery_buckets: Rows by delivery count, one count per bound of ``DELIVERY_BOUNDS`` and one beyond.
        longest_idle: The row idle for longest of those; none before the first.
        most_delivered: The row delivered most often; none before the first row.
        free: Rows that were given back, for any consumer to take over.
        dangling: Rows whose entry was gone from the stream's beginning when they were read.
        deleted: Rows whose entry was deleted from its midst, at the least.
        first_deleted: The first of these; None if there is none.
    """

    scanned: int
    coverage: float
    idle_buckets: tuple[int, ...]
    delivery_buckets: tuple[int, ...]
    longest_idle: PendingEntry | None
    most_delivered: PendingEntry | None
    free: int = 0
    dangling: int = 0
    deleted: int = 0
    first_deleted: PendingEntry | None = None


IDLE_BOUNDS: tuple[timedelta, ...] = (
    timedelta(seconds=1),
    timedelta(seconds=10),
    timedelta(minutes=1),
    timedelta(minutes=10),
    timedelta(hours=1),
)
DELIVERY_BOUNDS: tuple[int, ...] = (1, 2, 5, 10)


class PendingSelection(Struct, frozen=True):
    """Pending entries that were selected, without holding all of them.

    Attributes:
        count: How many.
        owners: How many of them by owner, most first.
        sample: The first few.
        longest_idle: The one that is idle for longest; None if there is none.
        last_id: The highest ID; None if there is none.
    """

    count: int = 0
    owners: tuple[tuple[str, int], ...] = ()
    sample: tuple[PendingEntry, ...] = ()
    longest_idle: PendingEntry | None = None
    last_id: EntryId | None = None


class Unfit(Struct, frozen=True):
    """How many of the IDs that were named cannot be taken, by why.

    Attributes:
        absent: Not pending in the group.
        elsewhere: Owned by another consumer than was asked for, or by the new owner already.
        busy: Not idle for long enough.
    """

    absent: int = 0
    elsewhere: int = 0
    busy: int = 0


class DeletedPending(Struct, frozen=True):
    """Selected rows whose entries no longer exist.

    Attributes:
        looked: How many rows were looked at; it takes the whole entries.
        count: How many of those are of entries that no longer exist.
        sample: The first few of them.
    """

    looked: int = 0
    count: int = 0
    sample: tuple[EntryId, ...] = ()


class PendingChange(StrEnum):
    """What was done to pending rows that can be taken back."""

    CLAIMED = "claimed"
    NACKED = "nacked"


class StaleRow(Struct, frozen=True):
    """A pending entry that is idle for long enough, and what becomes of it.

    Attributes:
        entry: Its row; deliveries are counted over all the times it was added again.
        fate: ``redeliver``, ``bury``, or ``gone`` where its entry no longer exists.
        origin: The ID that it was born with.
    """

    entry: PendingEntry
    fate: str
    origin: str


class Stale(Struct, frozen=True):
    """Pending entries that are idle for long enough, without holding all of them.

    Attributes:
        redeliver: How many would be handled again.
        bury: How many were delivered too often.
        gone: How many no longer exist in the stream.
        waiting: How many wait for the consumer that they were given to.
        owners: How many of the first three by owner, most first.
        sample: The first few.
        last_id: The highest pending ID that was looked at; None if there was none.
    """

    redeliver: int = 0
    bury: int = 0
    gone: int = 0
    waiting: int = 0
    owners: tuple[tuple[str, int], ...] = ()
    sample: tuple[StaleRow, ...] = ()
    last_id: EntryId | None = None

    @property
    def count(self) -> int:
        """How many something is done with."""
        return self.redeliver + self.bury + self.gone
