"""Counters that Redis does not keep: what moved from one reading to the next, added up. Pure; none ever falls.

A step that is not known adds nothing, and is itself counted.
"""

from streamops.model.entries import EntryId
from streamops.model.observation import GroupCounts, StreamCounts, Uncounted
from streamops.monitor.rates import acknowledgements, arrivals, deliveries, losses
from streamops.monitor.samples import GroupSample, StreamSample, recreated

Steps = tuple[int | None, int | None, int | None]
"""Entries delivered to a group, acknowledged and lost between two readings; None if that is not known."""

UNTOLD: Steps = (None, None, None)
NO_STEPS: Steps = (0, 0, 0)


def count_stream(
    counts: StreamCounts, last: StreamSample, sample: StreamSample, *, is_anew: bool
) -> StreamCounts:
    """The counters of a stream with one more reading of it; ``is_anew`` where the key must hold another stream by now."""
    added = _added_anew(last, sample) if is_anew else arrivals(last, sample)
    if added is None:
        added = _added_at_least(last, sample)
    if added is None:
        return counts
    removed = max(0, added + last.length - sample.length)
    return StreamCounts(counts.added + added, counts.removed + removed)


def _added_anew(last: StreamSample, sample: StreamSample) -> int:
    """Entries that must have been added to a stream that is not what it was.

    It may be an older copy of the same one, whose server has taken over: that one counts what was counted before, and
    may have back what was trimmed.
    """
    first, highest = sample.first_id, last.last_generated_id
    if first is not None and highest is not None and first > highest:
        # Nothing of before is left: all that it has is new. What else it counts may be what was counted before.
        return sample.length
    return arrivals(last, sample) or 0


def _added_at_least(last: StreamSample, sample: StreamSample) -> int | None:
    """Entries that must have been added where the server does not count them: before Redis 7.0; None if it does."""
    if sample.entries_added is not None or recreated(last, sample):
        return None
    first, highest = sample.first_id, last.last_generated_id
    if first is not None and highest is not None and first > highest:
        # Whatever was there is gone, be it trimmed or the whole stream made again.
        return sample.length
    return max(0, sample.length - last.length)


def group_steps(
    last: GroupSample, sample: GroupSample, rewound_from: EntryId | None, *, was_fed: bool
) -> Steps:
    """How far the counters of a group move between two readings.

    Args:
        last: The group before.
        sample: The group after; its position not before the earlier one.
        rewound_from: As ``acknowledgements`` takes it.
        was_fed: Whether a consumer may have got an entry meanwhile; else it was not by deliveries that the position moved.
    """
    added = arrivals(last.stream, sample.stream)
    lost = losses(last, sample, added)
    moved = sample.last_delivered_id != last.last_delivered_id
    if moved and not was_fed:
        return None, None, lost
    if (moved or sample.pending != last.pending) and _was_set(last, sample):
        return None if moved else 0, None, lost
    delivered = deliveries(last, sample, added)
    return delivered, acknowledgements(last, sample, delivered, rewound_from), lost


def _was_set(last: GroupSample, sample: GroupSample) -> bool:
    """Whether the group was made again, or its position set: its read counter went back, or was lost.

    A deleted entry ahead of the position makes the server lose it, too, with nothing else being wrong.
    """
    if last.entries_read is None:
        return False
    if sample.entries_read is not None:
        return sample.entries_read < last.entries_read
    deleted = sample.stream.max_deleted_id
    return deleted is None or deleted <= last.last_delivered_id


def count_group(counts: GroupCounts, steps: Steps, *, rewinds: int = 0) -> GroupCounts:
    """The counters of a group with one more step, in which its position may have moved back."""
    delivered, acked, lost = steps
    uncounted = counts.uncounted
    if delivered is None or acked is None or lost is None:
        uncounted = Uncounted(
            uncounted.delivered + (delivered is None),
            uncounted.acked + (acked is None),
            uncounted.lost + (lost is None),
        )
    return GroupCounts(
        counts.delivered + (delivered or 0),
        counts.acked + (acked or 0),
        counts.lost + (lost or 0),
        counts.rewinds + rewinds,
        uncounted,
    )
