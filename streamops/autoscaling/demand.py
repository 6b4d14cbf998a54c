"""What a group's work asks of its workers: counters that only rise, made of readings that do not."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.decisions import Assignment
from streamops.errors import NotFound
from streamops.model.entries import EntryId
from streamops.model.lag import LagBasis
from streamops.model.pools import Demand, PoolSize, RegisteredWorker
from streamops.model.streams import ConsumerGroup, Snapshot, StreamState
from streamops.monitor.pools import PoolReader, PoolWorkers
from streamops.monitor.rates import acknowledgements, arrivals, deliveries
from streamops.monitor.samples import GroupSample, recreated, sample_group, sample_stream

SOME: Final = 1
"""What is counted if something was acknowledged, and how much is not known."""


MOST_COUNTED: Final = 100_000
"""Entries that are counted by hand at one look, where the server does not count additions."""


class Tallied(Struct, frozen=True, kw_only=True):
    """What was counted of a group so far.

    Attributes:
        sample: What is remembered of the last reading.
        added: Entries added to its stream since the first one.
        acked: Entries that it was done with since then.
        rewound_from: The farthest position that it ever moved back from; None if it never did.
    """

    sample: GroupSample
    added: int = 0
    acked: int = 0
    rewound_from: EntryId | None = None


Span = tuple[EntryId, EntryId] | None
"""Entries after an ID and up to another; none if a counter shows how many there are."""


def uncounted(past: Tallied, stream: StreamState, group: ConsumerGroup) -> tuple[Span, Span]:
    """What has to be counted by hand before a reading can be tallied: entries added, and delivered to the group."""
    last, now = past.sample, sample_group(group, sample_stream(stream))
    if recreated(last.stream, now.stream):
        return None, None
    came = arrivals(last.stream, now.stream)
    first, newest = last.stream.last_generated_id, now.stream.last_generated_id
    added = (first, newest) if came is None and first is not None and newest is not None else None
    # What came less what the lag grew will tell, once it is counted what came.
    told = deliveries(last, now, came) is not None or (
        came is None and last.lag is not None and now.lag is not None
    )
    forward = last.last_delivered_id < now.last_delivered_id and not told
    return added, (last.last_delivered_id, now.last_delivered_id) if forward else None


def count_reading(
    past: Tallied,
    stream: StreamState,
    group: ConsumerGroup,
    *,
    added: int | None = None,
    delivered: int | None = None,
) -> Tallied:
    """What was counted, with one more reading.

    A stream that was made again begins from less than nothing, which the policy notices: its counters never fall
    otherwise. Where it is not known how much was added, it is as much as the stream grew; if it is not known how
    much was acknowledged though something moved, it is the least there is, which is no rate, and no standstill either.

    Args:
        past: What was counted so far.
        stream: The stream as read.
        group: The group as read.
        added: Entries added meanwhile, if that had to be counted by hand.
        delivered: Entries that the group was given meanwhile, the same.
    """
    last, sample = past.sample, sample_group(group, sample_stream(stream))
    if recreated(last.stream, sample.stream):
        return Tallied(sample=sample, added=min(0, past.added) - 1)
    came = arrivals(last.stream, sample.stream)
    came = added if came is None else came
    grown = max(0, sample.stream.length - last.stream.length)
    rewound = past.rewound_from
    if sample.last_delivered_id < last.last_delivered_id:
        rewound = last.last_delivered_id if rewound is None else max(rewound, last.last_delivered_id)
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
        return count_reading(past, stream, group)
    return Tallied(sample=sample, added=past.added, acked=past.acked)


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
) -> Demand:
    """One reading of a group's work and of the pool that does it.

    Args:
        tallied: What was counted of it, this reading included.
        group: The group as read.
        size: How many workers its target has.
        at: The server's clock.
        busy: Share of the workers' slots that was busy since the last reading; None if they do not report it.
    """
    lag, time_lag = group.lag, group.time_lag.age
    empty = time_lag == timedelta(0) and bool(lag.entries) and lag.basis is not LagBasis.EXACT
    return Demand(
        at=at.timestamp(),
        added=tallied.added,
        lag=lag,
        head_age=None if time_lag is None else time_lag.total_seconds(),
        pending=group.pending,
        acked=tallied.acked,
        ordered=size.ordered,
        ready=size.ordered if size.ready is None else size.ready,
        busy=busy,
        probed_empty=empty,
        ready_known=size.ready is not None,
    )


def busy_share(before: tuple[RegisteredWorker, ...], now: tuple[RegisteredWorker, ...]) -> float | None:
    """The share of the workers' slots that was busy between two readings of their roster; None if no worker reports it.

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


def _busy(before: RegisteredWorker | None, now: RegisteredWorker) -> float:
    """Slots that were busy, on average."""
    span = 0.0 if before is None else (now.at - before.at).total_seconds()
    if before is None or span <= 0 or now.worked < before.worked:
        return float(min(now.slots, now.busy))
    ended = (now.worked - before.worked) / span
    return min(float(now.slots), max(ended, float(min(before.busy, now.busy))))


class Seen(Struct, frozen=True):
    """What one collection brought, for all pools.

    Attributes:
        snapshot: It.
        streams: Its streams, by name.
    """

    snapshot: Snapshot
    streams: Mapping[str, StreamState]

    @property
    def now(self) -> datetime:
        """The server's clock."""
        return self.snapshot.collected_at

    def find(self, stream: str, group: str) -> tuple[StreamState, ConsumerGroup]:
        """A group and its stream; raises ``NotFound`` if it was not there, or not read."""
        state = self.streams.get(stream)
        found = next((one for one in state.groups if one.name == group), None) if state else None
        if state is not None and found is not None:
            return state, found
        reasons = [gap.reason for gap in self.snapshot.gaps if gap.stream in {None, stream}]
        why = f": {reasons[0]}" if reasons else ""
        raise NotFound(f"no group {group} of stream {stream}{why}", "Its workers create it when they start.")


class DemandReader:
    """What is remembered of one pool between two looks, so that the next one can tell what moved.

    Args:
        pools: Counts entries where the server does not.
        assignment: The pool.
    """

    def __init__(self, pools: PoolReader, assignment: Assignment) -> None:
        self._pools = pools
        self._assignment = assignment
        self._tallied: Tallied | None = None
        self._missed = False
        self._registry_of: tuple[RegisteredWorker, ...] = ()
        self._beats = False

    async def read(self, seen: Seen, staff: PoolWorkers, size: PoolSize) -> tuple[Demand, PoolSize]:
        """Return one reading, and the size with as many ready workers as beat.

        Targets count processes, some of which do not work yet. Workers that never beat are of another library, and the
        target has to be believed.

        Args:
            seen: What was just read of the pool's stream.
            staff: Who works in it.
            size: How many workers its target has.

        Raises:
            NotFound: The stream or its group is not there.
            StreamopsError: What the server does not count cannot be counted.
        """
        beating = len(staff.workers)
        self._beats = self._beats or bool(beating)
        if self._beats:
            size = replace(size, ready=beating if size.ready is None else min(beating, size.ready))
        busy = busy_share(self._registry_of, staff.workers)
        self._registry_of = staff.workers
        missed, self._missed = self._missed, True
        stream, group = seen.find(self._assignment.stream, self._assignment.group)
        self._missed = False
        self._tallied = await self._counted(stream, group, missed=missed)
        return demand_of(self._tallied, group, size, at=seen.now, busy=busy), size

    async def _counted(self, stream: StreamState, group: ConsumerGroup, *, missed: bool) -> Tallied:
        past = self._tallied
        if past is None:
            return Tallied(sample=sample_group(group, sample_stream(stream)))
        if missed:
            return rejoin(past, stream, group)
        added, delivered = [await self._count(span) for span in uncounted(past, stream, group)]
        return count_reading(past, stream, group, added=added, delivered=delivered)

    async def _count(self, span: Span) -> int | None:
        """As many entries as may be counted; none if none may be, or have to be."""
        if span is None:
            return None
        return await self._pools.count_between(self._assignment.stream, *span, MOST_COUNTED)
