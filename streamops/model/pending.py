"""The distribution of a group's pending entries."""

from datetime import timedelta

from msgspec import Struct

from streamops.model.entries import PendingEntry


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
        first_deleted: The first of these; none where there is none.
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
