"""What is counted of one group."""

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.monitor.rates import acknowledgements, deliveries, losses
from streamops.monitor.samples import GroupSample


class Uncounted(Struct, frozen=True, gc=False):
    """Steps at which it could not be told how far the counters of a group moved.

    Attributes:
        delivered: Deliveries could not be told.
        acked: Acknowledgements could not be told.
        lost: Losses could not be told.
    """

    delivered: int = 0
    acked: int = 0
    lost: int = 0

    def with_step(self, delivered: int | None, acked: int | None, lost: int | None) -> "Uncounted":
        """These with one more step, of which none means that it could not be told."""
        return Uncounted(
            self.delivered + (delivered is None), self.acked + (acked is None), self.lost + (lost is None)
        )


ALL_COUNTED = Uncounted()


class GroupCount(Struct, frozen=True, gc=False):
    """What was counted of one group since it was first seen.

    Attributes:
        sample: What is remembered of the last reading; none where the group was destroyed since.
        delivered: Entries delivered to it.
        acked: Entries that it was done with.
        lost: Entries trimmed away before they were delivered.
        rewinds: How often its position moved back.
        rewound_from: The farthest position that it ever moved back from; none where it never did.
        uncounted: Steps that could not be told.
    """

    sample: GroupSample | None
    delivered: int = 0
    acked: int = 0
    lost: int = 0
    rewinds: int = 0
    rewound_from: EntryId | None = None
    uncounted: Uncounted = ALL_COUNTED


def begin_group(sample: GroupSample) -> GroupCount:
    """What is counted of a group that is seen for the first time."""
    return GroupCount(sample)


def begin_again(past: GroupCount, sample: GroupSample) -> GroupCount:
    """The same counters for another group of that name: what moved meanwhile cannot be told."""
    return replace(
        past, sample=sample, rewound_from=None, uncounted=past.uncounted.with_step(None, None, None)
    )


def advance_group(
    past: GroupCount, sample: GroupSample, added: int | None, *, fed: bool = True
) -> GroupCount:
    """What is counted of a group with one more reading of it.

    Args:
        past: What was counted so far.
        sample: What to remember of the reading.
        added: Entries added to its stream meanwhile; none where that cannot be told.
        fed: Whether a consumer may have got an entry meanwhile; else it was not by deliveries that the position moved.
    """
    last = past.sample
    if sample == last:
        return past
    if last is None:
        return begin_again(past, sample)
    if sample.last_delivered_id < last.last_delivered_id:
        return _rewind(past, last, sample)
    delivered, acked = _progress(past, last, sample, added, fed=fed)
    lost = losses(last, sample, added)
    told = delivered is not None and acked is not None and lost is not None
    return GroupCount(
        sample,
        past.delivered + (delivered or 0),
        past.acked + (acked or 0),
        past.lost + (lost or 0),
        past.rewinds,
        past.rewound_from,
        past.uncounted if told else past.uncounted.with_step(delivered, acked, lost),
    )


def _progress(
    past: GroupCount, last: GroupSample, sample: GroupSample, added: int | None, *, fed: bool
) -> tuple[int | None, int | None]:
    """Entries delivered and done with; none where that cannot be told."""
    moved = sample.last_delivered_id != last.last_delivered_id
    if moved and not fed:
        return None, None
    if _was_set(last, sample) and (moved or sample.pending != last.pending):
        return (None if moved else 0), None
    delivered = deliveries(last, sample, added)
    return delivered, acknowledgements(last, sample, delivered, past.rewound_from)


def _was_set(last: GroupSample, sample: GroupSample) -> bool:
    """Whether the group was made anew, or its position set: its read counter went back, or was lost.

    A deleted entry ahead of the position makes the server lose it, too, with nothing else being wrong.
    """
    if last.entries_read is None:
        return False
    if sample.entries_read is not None:
        return sample.entries_read < last.entries_read
    deleted = sample.stream.max_deleted_id
    return deleted is None or deleted <= last.last_delivered_id


def _rewind(past: GroupCount, last: GroupSample, sample: GroupSample) -> GroupCount:
    """The counters of a group whose position moved back; what it was given before that cannot be told."""
    origin = last.last_delivered_id
    return replace(
        past,
        sample=sample,
        rewinds=past.rewinds + 1,
        rewound_from=origin if past.rewound_from is None else max(origin, past.rewound_from),
        uncounted=past.uncounted.with_step(None, None, None),
    )
