"""What a group's work asks of its workers: counters that only rise, made of readings that do not. Pure."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.model.lag import LagBasis
from streamops.model.pools import PoolSize, RosterWorker
from streamops.model.scaling import Demand
from streamops.model.streams import ConsumerGroup, StreamState
from streamops.monitor.rates import acknowledgements, arrivals, deliveries
from streamops.monitor.samples import GroupSample, recreated, sample_group, sample_stream

SOME: Final = 1
"""What is counted where something was acknowledged, and nobody can tell how much."""


class Tallied(Struct, frozen=True, kw_only=True):
    """What was counted of a group so far.

    Attributes:
        sample: What is remembered of the last reading.
        added: Entries added to its stream since the first one.
        acked: Entries that it was done with since then.
        rewound_from: The farthest position that it ever moved back from; none where it never did.
    """

    sample: GroupSample
    added: int = 0
    acked: int = 0
    rewound_from: EntryId | None = None


def begin_tally(stream: StreamState, group: ConsumerGroup) -> Tallied:
    """What is counted of a group that is seen for the first time."""
    return Tallied(sample=sample_group(group, sample_stream(stream)))


class Uncounted(Struct, frozen=True):
    """Ranges of entries that have to be counted by hand, each after an ID and up to another; none where a counter tells.

    Attributes:
        added: Those that were added since the last reading.
        delivered: Those that the group was given since then.
    """

    added: tuple[EntryId, EntryId] | None = None
    delivered: tuple[EntryId, EntryId] | None = None


def uncounted(past: Tallied, stream: StreamState, group: ConsumerGroup) -> Uncounted:
    """What has to be counted by hand before a reading can be tallied."""
    last, now = past.sample, sample_group(group, sample_stream(stream))
    if recreated(last.stream, now.stream):
        return Uncounted()
    came = arrivals(last.stream, now.stream)
    ends = last.stream.last_generated_id, now.stream.last_generated_id
    forward = last.last_delivered_id < now.last_delivered_id
    # What came less what the lag grew will tell, once it is counted what came.
    told = deliveries(last, now, came) is not None or (
        came is None and last.lag is not None and now.lag is not None
    )
    return Uncounted(
        (ends[0], ends[1]) if came is None and ends[0] is not None and ends[1] is not None else None,
        (last.last_delivered_id, now.last_delivered_id) if forward and not told else None,
    )


def tally(
    past: Tallied,
    stream: StreamState,
    group: ConsumerGroup,
    *,
    added: int | None = None,
    delivered: int | None = None,
) -> Tallied:
    """What was counted, with one more reading.

    A stream that was made anew begins from less than nothing, which the policy notices: its counters never fall
    otherwise. Where nobody can tell how much was added, it is as much as the stream grew; where nobody can tell how
    much was acknowledged though something moved, it is the least there is, which is no rate, and no standstill either.

    Args:
        past: What was counted so far.
        stream: The stream as read.
        group: The group as read.
        added: Entries added meanwhile, where that had to be counted by hand.
        delivered: Entries that the group was given meanwhile, the same.
    """
    last, sample = past.sample, sample_group(group, sample_stream(stream))
    if recreated(last.stream, sample.stream):
        return Tallied(sample=sample, added=min(0, past.added) - 1)
    came = arrivals(last.stream, sample.stream)
    came = added if came is None else came
    grown = max(0, sample.stream.length - last.stream.length)
    rewound = _rewound(past, sample)
    return Tallied(
        sample=sample,
        added=past.added + (grown if came is None else came),
        acked=past.acked + _acknowledged(last, sample, rewound, came, delivered),
        rewound_from=rewound,
    )


def rejoin(past: Tallied, stream: StreamState, group: ConsumerGroup) -> Tallied:
    """What was counted, with a group that had not been there for a while: what it did meanwhile is not known."""
    sample = sample_group(group, sample_stream(stream))
    if recreated(past.sample.stream, sample.stream):
        return tally(past, stream, group)
    return Tallied(sample=sample, added=past.added, acked=past.acked)


def _rewound(past: Tallied, sample: GroupSample) -> EntryId | None:
    """The farthest position that the group ever moved back from, this reading included."""
    before, known = past.sample.last_delivered_id, past.rewound_from
    if sample.last_delivered_id >= before:
        return known
    return before if known is None else max(known, before)


def _acknowledged(
    last: GroupSample, sample: GroupSample, rewound: EntryId | None, came: int | None, counted: int | None
) -> int:
    if sample.last_delivered_id < last.last_delivered_id:
        return SOME if sample.pending < last.pending else 0
    given = deliveries(last, sample, came)
    acked = acknowledgements(last, sample, counted if given is None else given, rewound)
    return SOME if acked is None else acked


def demand_of(
    tallied: Tallied,
    group: ConsumerGroup,
    size: PoolSize,
    *,
    at: datetime,
    busy: float | None,
    idle: timedelta,
) -> Demand:
    """One reading of a group's work and of the pool that does it.

    Args:
        tallied: What was counted of it, this reading included.
        group: The group as read.
        size: How many workers its target has.
        at: The server's clock.
        busy: Share of the workers' slots that was busy since the last reading; none where they do not tell.
        idle: How long its oldest pending entry has lain idle.
    """
    lag, time_lag = group.lag, group.time_lag.age
    empty = time_lag == timedelta(0) and bool(lag.entries) and lag.basis is not LagBasis.EXACT
    return Demand(
        at=at.timestamp(),
        added=tallied.added,
        lag=lag,
        head_age=None if time_lag is None else time_lag.total_seconds(),
        pending=group.pending,
        oldest_idle=idle.total_seconds(),
        acked=tallied.acked,
        ordered=size.ordered,
        ready=size.ordered if size.ready is None else size.ready,
        busy=busy,
        probed_empty=empty,
    )


def busy_share(before: tuple[RosterWorker, ...], now: tuple[RosterWorker, ...]) -> float | None:
    """The share of the workers' slots that was busy between two readings of their roster; none where nobody tells.

    Calls that have ended meanwhile tell by their durations; those that went on all the while by their number, of which
    the smaller of the two readings is sure.
    """
    past = {worker.id: worker for worker in before}
    busy = slots = 0.0
    for worker in now:
        if not worker.slots:
            continue
        slots += worker.slots
        busy += _busy(past.get(worker.id), worker)
    return min(1.0, busy / slots) if slots else None


def _busy(before: RosterWorker | None, now: RosterWorker) -> float:
    """Slots that were busy, on average."""
    span = 0.0 if before is None else (now.at - before.at).total_seconds()
    if before is None or span <= 0 or now.worked < before.worked:
        return float(min(now.slots, now.busy))
    ended = (now.worked - before.worked) / span
    return min(float(now.slots), max(ended, float(min(before.busy, now.busy))))
