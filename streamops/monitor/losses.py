"""Entries that were trimmed away before a group was given them.

What waited, plus what arrived, less what was delivered, less what waits now, is what was lost. Source:
the conservation of undelivered entries; it equals ``(added - length - read) - bias`` while the position
is before the first entry, with ``bias = added - read - lag`` when the lag was last known.
"""

from streamops.model.ids import ZERO_ID
from streamops.monitor.rates import counted_reads
from streamops.monitor.samples import GroupSample, StreamSample


def losses(earlier: GroupSample, later: GroupSample, added: int | None) -> int | None:
    """Entries lost to the group between two samples; none where it cannot be told.

    Deleting an undelivered entry with XDEL is somebody's decision and not a loss, but takes part in the
    sum; so the sum counts only where no entry beyond the earlier position was ever deleted.

    Args:
        earlier: The group before.
        later: The group after; its position not before the earlier one.
        added: What ``arrivals`` said of the same two samples.
    """
    if _untouched(earlier, later.stream):
        return 0
    deleted = later.stream.max_deleted_id
    if deleted is None or deleted > earlier.last_delivered_id:
        return None
    moved = earlier.last_delivered_id != later.last_delivered_id
    delivered = counted_reads(earlier, later) if moved else 0
    if added is None or delivered is None or earlier.lag is None or later.lag is None:
        return None
    # A server that counts skipped entries as read makes this negative, never too great.
    return max(0, earlier.lag + added - delivered - later.lag)


def lost_before(first: GroupSample) -> int | None:
    """The most entries after a group's position that were gone when it was first read; none without a bound.

    Zero where the stream still begins at or before the position: trimming has not overtaken it there. Otherwise
    what was added, less what is there, less what the group had read; of a group that has read nothing, all of it.
    """
    stream, position = first.stream, first.last_delivered_id
    if any(one is not None and one <= position for one in (stream.first_id, stream.last_generated_id)):
        return 0
    read = 0 if position == ZERO_ID else first.entries_read
    if stream.entries_added is None or read is None:
        return None
    return max(0, stream.entries_added - stream.length - read)


def trimmed(earlier: StreamSample, later: StreamSample) -> bool:
    """Whether trimming, and not XDEL, provably took entries from the stream's head between two samples.

    Never provable on Redis 6.2, which does not tell the highest deleted ID.
    """
    first, deleted = earlier.first_id, later.max_deleted_id
    if first is None or deleted is None or deleted >= first:
        return False
    return later.length == 0 if later.first_id is None else later.first_id > first


def _untouched(earlier: GroupSample, later: StreamSample) -> bool:
    """Whether nothing beyond the earlier position went from the stream's head."""
    first = later.first_id
    if first is None:
        return earlier.lag == 0 and later.last_generated_id == earlier.stream.last_generated_id
    return first == earlier.stream.first_id or first <= earlier.last_delivered_id
