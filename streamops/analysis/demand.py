"""What a group's work asks of its workers: counters that only rise, made of readings that do not. Pure."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.analysis.rates import acknowledgements, arrivals, deliveries
from streamops.analysis.samples import GroupSample, recreated, sample_group, sample_stream
from streamops.model.ids import EntryId
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import PoolSize, RosterWorker
from streamops.model.scaling import Demand
from streamops.model.streams import ConsumerGroup, StreamState

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


def uncounted_since(past: Tallied, stream: StreamState) -> EntryId | None:
    """The ID after which entries have to be counted, where the server does not count additions; else none."""
    last = past.sample.stream
    now = sample_stream(stream)
    if recreated(last, now) or arrivals(last, now) is not None:
        return None
    return last.last_generated_id


def tally(past: Tallied, stream: StreamState, group: ConsumerGroup, counted: int | None = None) -> Tallied:
    """What was counted, with one more reading.

    A stream that was made anew begins from nothing: its counters are lower than before, which the policy notices.

    Args:
        past: What was counted so far.
        stream: The stream as read.
        group: The group as read.
        counted: Entries added meanwhile, where that had to be counted by hand.
    """
    last = past.sample
    sample = sample_group(group, sample_stream(stream))
    if recreated(last.stream, sample.stream):
        return Tallied(sample=sample, added=-1 if past.added == 0 else 0)
    added = arrivals(last.stream, sample.stream)
    if added is None:
        added = counted
    rewound = past.rewound_from
    if sample.last_delivered_id < last.last_delivered_id:
        rewound = last.last_delivered_id if rewound is None else max(rewound, last.last_delivered_id)
        acked: int | None = 0
    else:
        acked = acknowledgements(last, sample, deliveries(last, sample, added), rewound)
    if acked is None:
        acked = SOME if _moved(last, sample) else 0
    return Tallied(
        sample=sample, added=past.added + (added or 0), acked=past.acked + acked, rewound_from=rewound
    )


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

    Where calls have ended meanwhile, their durations tell; where none has, what was under way.
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
    if before is None or span <= 0 or now.worked <= before.worked:
        return float(now.busy)
    return min(float(now.slots), (now.worked - before.worked) / span)


def _moved(last: GroupSample, sample: GroupSample) -> bool:
    """Whether anything was acknowledged, as far as can be told without counting."""
    return sample.pending < last.pending or sample.last_delivered_id != last.last_delivered_id


UNREAD: Final = Lag(None, None, None, LagBasis.UNKNOWN, "it could not be read")
"""The lag of a group that could not be read at all."""
