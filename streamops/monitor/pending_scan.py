"""A rolling scan over a group's pending entries, page by page."""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import LAST_ID, EntryId, PendingEntry
from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS, PendingProfile
from streamops.model.streams import ConsumerGroup, StreamReading, StreamState

Bound = TypeVar("Bound", int, timedelta)


NOTHING_SEEN: Final = PendingProfile(
    0, 0.0, (0,) * (len(IDLE_BOUNDS) + 1), (0,) * (len(DELIVERY_BOUNDS) + 1), None, None
)


class PendingScan(Struct, frozen=True):
    """How far a scan has come.

    Attributes:
        cursor: Where the next page starts, exclusive; none at the beginning of a pass.
        seen: What this pass has seen; its coverage is not told.
        last_pass: What the last whole pass saw; none before its end.
    """

    cursor: EntryId | None = None
    seen: PendingProfile = NOTHING_SEEN
    last_pass: PendingProfile | None = None


def gone_below(stream: StreamState | StreamReading) -> EntryId | None:
    """The ID below which no entry of a stream exists any more; None if its beginning is not known."""
    if stream.length == 0:
        last = stream.last_generated_id
        return last if last is None or last == LAST_ID else last.next()
    return stream.first_id


def dangling(stream: StreamState, group: ConsumerGroup) -> tuple[int, PendingEntry | None]:
    """Pending rows of a group, at the least, whose entry is no longer in the stream; and the first of them."""
    below, oldest, profile = gone_below(stream), group.oldest_pending, group.profile
    if not group.pending or oldest is None:
        return 0, None
    if stream.length == 0 and below is not None and oldest.id < below:
        return group.pending, oldest
    deleted = profile.deleted if profile else 0
    first = profile.first_deleted if profile else None
    if first is None or first.id < oldest.id:
        # It was let go of since it was seen.
        deleted, first = 0, None
    if below is None or oldest.id >= below:
        return min(group.pending, deleted), first
    trimmed = max(1, profile.dangling if profile else 0)
    return min(group.pending, trimmed + deleted), oldest


def advance_scan(
    scan: PendingScan,
    rows: Sequence[PendingEntry],
    *,
    end: bool,
    below: EntryId | None = None,
    deleted: int = 0,
    first_deleted: PendingEntry | None = None,
) -> PendingScan:
    """The scan after one more page.

    Args:
        scan: The scan so far.
        rows: The page.
        end: Whether no row follows, so that the next page begins a pass.
        below: What ``gone_below`` says of the stream.
        deleted: How many of its rows were found to lack their entry, from there on.
        first_deleted: The first of these.
    """
    held, before = [row for row in rows if not row.free], scan.seen
    # The first of those that are alike is kept.
    idlest = [*filter(None, [before.longest_idle]), *held]
    most = [*filter(None, [before.most_delivered]), *rows]
    seen = PendingProfile(
        before.scanned + len(rows),
        1.0,
        _sorted_in(IDLE_BOUNDS, before.idle_buckets, [row.idle for row in held]),
        _sorted_in(DELIVERY_BOUNDS, before.delivery_buckets, [row.delivery_count for row in rows]),
        max(idlest, key=lambda row: row.idle, default=None),
        max(most, key=lambda row: row.delivery_count, default=None),
        before.free + len(rows) - len(held),
        before.dangling + (0 if below is None else sum(row.id < below for row in rows)),
        before.deleted + deleted,
        before.first_deleted or first_deleted,
    )
    if end:
        return PendingScan(last_pass=seen)
    return PendingScan(rows[-1].id if rows else scan.cursor, seen, scan.last_pass)


def _sorted_in(bounds: Sequence[Bound], buckets: Sequence[int], values: Sequence[Bound]) -> tuple[int, ...]:
    """Buckets with more values in them, the last one for those beyond all bounds."""
    counted = list(buckets)
    if values and (bucket := bisect_left(bounds, min(values))) == bisect_left(bounds, max(values)):
        # Mostly they are alike.
        counted[bucket] += len(values)
        return tuple(counted)
    for value in values:
        counted[bisect_left(bounds, value)] += 1
    return tuple(counted)


def profile_of(scan: PendingScan, pending: int) -> PendingProfile | None:
    """What is known of the distribution: the last whole pass, else the pass under way; none before a row."""
    if scan.last_pass is not None or scan.seen.scanned == 0:
        return scan.last_pass
    return replace(scan.seen, coverage=min(1.0, scan.seen.scanned / max(1, pending)))
