"""What is remembered of the snapshots before this one: bounded, in memory, never changed in place."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.model.lag import Lag
from streamops.model.streams import Snapshot, StreamRole, StreamState
from streamops.monitor.rates import acknowledgements, arrivals, deliveries, losses, lost_before, trimmed
from streamops.monitor.samples import (
    GroupSample,
    SampleSeries,
    StreamSample,
    Tick,
    recreated,
    sample_group,
    sample_stream,
)
from streamops.monitor.thresholds import Thresholds

RATE_SPACING = timedelta(seconds=5)
RATE_LENGTH = 7
TREND_LENGTH = 64
GROWTH_LENGTH = 61
LATE = timedelta(minutes=1)
"""By how much a snapshot may be older than the last and still belong to the same past."""
REMEMBERED_FOR = timedelta(minutes=15)
"""How long what is out of sight for a reason is remembered, so that a lasting gap cannot pile up the past."""


class GroupHistory(Struct, frozen=True, gc=False):
    """What is remembered of one group since it was first seen, or since its position moved back.

    Attributes:
        began: When that was.
        recent: The last seven readings at least five seconds apart, for rates.
        trend: The last 64 lags, spaced to span ``lag_growing_for``; none where a lag was not known.
        position_since: The first reading at the present position: nothing was delivered since.
        waiting_since: The first reading since which entries have waited without a break; none where
            none is known to wait.
        clear_at: The last reading at which nothing waited, or at which the position moved back; none
            where there was no such reading. Nothing has waited for longer than since then.
        unacked_since: The last reading up to which something may have been acknowledged, or at which
            nothing was pending: no entry was acknowledged since.
        lost: Entries proven to have been trimmed away undelivered since the group was first seen.
        lost_known: Whether every change since then let that be told, so that ``lost`` is the whole.
        lost_at: The last reading that added to ``lost``; none where nothing did.
        rewound_at: The last reading at which the position had moved back; none where it never did.
        rewound_from: The position before that, or an earlier one not caught up with when it moved back again.
        lost_before: The most entries that can have been trimmed away undelivered before that; none without a bound.
    """

    began: datetime
    recent: SampleSeries[GroupSample]
    trend: SampleSeries[int | None]
    position_since: datetime
    waiting_since: datetime | None
    clear_at: datetime | None
    unacked_since: datetime
    lost: int = 0
    lost_known: bool = True
    lost_at: datetime | None = None
    rewound_at: datetime | None = None
    rewound_from: EntryId | None = None
    lost_before: int | None = 0

    @property
    def lag(self) -> int | None:
        """The newest lag; none unless ``exact`` or ``reported``."""
        return self.trend.values[-1]

    @property
    def lost_at_most(self) -> int | None:
        """The most entries that the group can have lost, before watching began and since; none without a bound."""
        if self.lost_before is None or not self.lost_known:
            return None
        return self.lost_before + self.lost


class StreamHistory(Struct, frozen=True):
    """What is remembered of one stream since it was first seen, or since it was created anew.

    Attributes:
        recent: The last seven readings at least five seconds apart, for rates.
        growth: For dead letters, readings that span ``dead_letters_growth_within``; none for others.
        trimmed_at: The last reading at which trimming had provably shortened it; none where it never did.
        groups: Its groups, by name.
    """

    recent: SampleSeries[StreamSample]
    growth: SampleSeries[StreamSample] | None
    trimmed_at: datetime | None
    groups: Mapping[str, GroupHistory]


class GoneStreams(Struct, frozen=True):
    """Streams that vanished together.

    Attributes:
        names: Those that are still not there.
        at: The reading that missed them.
        other_server: Whether another server answered than before: one that started without their data, say.
    """

    names: tuple[str, ...]
    at: datetime
    other_server: bool


class History(Struct, frozen=True):
    """What is remembered of all snapshots so far.

    Attributes:
        since: Server time of the first.
        at: Server time of the last.
        streams: The streams, by name.
        servers: The main replication IDs of the servers that answered last; one that was promoted since has them as its
            second. Empty where they were not told.
        gone: Streams that vanished with the server they were on, or as the last ones there were; none where none did.
    """

    since: datetime
    at: datetime
    streams: Mapping[str, StreamHistory]
    servers: frozenset[str] = frozenset()
    gone: GoneStreams | None = None


def advance(
    history: History | None, snapshot: Snapshot, thresholds: Thresholds, *, partial: bool = False
) -> History:
    """The history with one more snapshot.

    A snapshot up to a minute older than the last came late, having been taken at the same time, or comes
    from a server that took over with its clock a little behind: it changes nothing that is remembered.
    A clock further behind begins all anew.

    A stream or group that is absent loses its history; where a gap says why it is absent, only after a
    quarter of an hour.

    Args:
        history: The history so far; none before the first snapshot.
        snapshot: The snapshot.
        thresholds: They say how long a past some rules need.
        partial: Whether the snapshot leaves out streams on purpose, which explains their absence too.
    """
    now, step = snapshot.collected_at, _Step(snapshot, thresholds)
    if history is None or now <= history.at - LATE:
        history = History(now, now, {})
    elif now <= history.at:
        return _with_late(history, snapshot, step)
    streams = {state.name: step.stream(history.streams.get(state.name), state) for state in snapshot.streams}
    for name, past in history.streams.items():
        if name not in streams and (partial or step.explains(name)) and step.remembers(past.recent.times[-1]):
            streams[name] = past
    nodes = [node.replication_ids for node in snapshot.server.nodes if node.replication_ids]
    gone = history.gone if partial else _gone(history, streams, nodes, now)
    return History(history.since, now, streams, frozenset(ids[0] for ids in nodes) or history.servers, gone)


def _gone(
    history: History, streams: Mapping[str, StreamHistory], nodes: Sequence[tuple[str, ...]], now: datetime
) -> GoneStreams | None:
    """Streams that nobody deleted one by one: they went with their server, or none is left."""
    past = history.gone
    missed = () if past is None else tuple(name for name in past.names if name not in streams)
    vanished = tuple(name for name in history.streams if name not in streams)
    other_server = bool(history.servers) and any(history.servers.isdisjoint(ids) for ids in nodes)
    if vanished and (other_server or not streams):
        return GoneStreams(tuple(sorted({*missed, *vanished})), now, other_server)
    return None if past is None or not missed else replace(past, names=missed)


def _with_late(history: History, snapshot: Snapshot, step: "_Step") -> History:
    """The history as it was, and the beginnings of what only a late snapshot has seen."""
    streams = dict(history.streams)
    for state in snapshot.streams:
        past = streams.get(state.name)
        streams[state.name] = step.stream(None, state) if past is None else step.unseen(past, state)
    return replace(history, streams=streams)


class _Step:
    """One step of a history: what all its streams and groups share."""

    def __init__(self, snapshot: Snapshot, thresholds: Thresholds) -> None:
        self.now = now = snapshot.collected_at
        # A few readings more than the span needs: polls do not come exactly when the spacing asks.
        trend_spacing = max(RATE_SPACING, thresholds.lag_growing_for / (TREND_LENGTH - 4))
        growth_spacing = thresholds.dead_letters_growth_within / (GROWTH_LENGTH - 1)
        self.recent = Tick(now, RATE_SPACING, RATE_LENGTH)
        self.trend = Tick(now, trend_spacing, TREND_LENGTH)
        self.growth = Tick(now, growth_spacing, GROWTH_LENGTH)
        self.gaps = {(gap.stream, gap.group) for gap in snapshot.gaps}

    def explains(self, stream: str, group: str | None = None) -> bool:
        """Whether a gap explains why this is absent."""
        return not self.gaps.isdisjoint(((None, None), (stream, None), (stream, group)))

    def remembers(self, last: datetime) -> bool:
        """Whether what was last read then is still remembered, though it is absent now."""
        return self.now - last < REMEMBERED_FOR

    def stream(self, past: StreamHistory | None, state: StreamState) -> StreamHistory:
        """The history of one stream with this reading of it."""
        sample, trimmed_at = sample_stream(state), None
        if past is not None:
            last = past.recent.values[-1]
            if sample == last:
                # Nothing is kept twice, and what stands still is told by being the same object.
                sample, trimmed_at = last, past.trimmed_at
            elif recreated(last, sample):
                past = None
            else:
                trimmed_at = self.now if trimmed(last, sample) else past.trimmed_at
        growth = None
        if state.role is StreamRole.DEAD_LETTERS:
            growing = None if past is None else past.growth
            growth = self.growth.begin(sample) if growing is None else self.growth.append(growing, sample)
        return StreamHistory(
            self.recent.begin(sample) if past is None else self.recent.append(past.recent, sample),
            growth,
            trimmed_at,
            self._groups(None if past is None else past.groups, state, sample),
        )

    def unseen(self, past: StreamHistory, state: StreamState) -> StreamHistory:
        """The history of one stream as it was, and the beginnings of groups that it does not know."""
        new = [group for group in state.groups if group.name not in past.groups]
        if not new:
            return past
        sample = sample_stream(state)
        begun = {
            group.name: self._begin(sample_group(group, sample), group.lag, created=True) for group in new
        }
        return replace(past, groups={**past.groups, **begun})

    def _groups(
        self, known: Mapping[str, GroupHistory] | None, state: StreamState, stream: StreamSample
    ) -> dict[str, GroupHistory]:
        past, groups = known or {}, dict[str, GroupHistory]()
        for group in state.groups:
            sample, before = sample_group(group, stream), past.get(group.name)
            groups[group.name] = (
                self._begin(sample, group.lag, created=known is not None)
                if before is None
                else self._advance(before, sample, group.lag)
            )
        for name, before in past.items():
            if (
                name not in groups
                and self.explains(state.name, name)
                and self.remembers(before.recent.times[-1])
            ):
                groups[name] = before
        return groups

    def _begin(self, sample: GroupSample, lag: Lag, *, created: bool = False) -> GroupHistory:
        """The history of a group seen for the first time; ``created`` since its stream was last read without it."""
        return GroupHistory(
            began=self.now,
            recent=self.recent.begin(sample),
            trend=self.trend.begin(sample.lag),
            position_since=self.now,
            waiting_since=self.now if lag.waits else None,
            clear_at=self.now if lag.upper == 0 else None,
            unacked_since=self.now,
            lost_before=0 if created else lost_before(sample),
        )

    def _advance(self, past: GroupHistory, sample: GroupSample, lag: Lag) -> GroupHistory:
        """The history of a group with one more reading of it, of the same stream; ``lag`` is as read, with its bounds."""
        last, now = past.recent.values[-1], self.now
        acked: int | None = 0
        lost: int | None = 0
        moved = False
        if sample == last and sample.stream.first_id is not None:
            sample = last
        elif sample.last_delivered_id < last.last_delivered_id:
            return self._rewind(past, sample, lag)
        else:
            added = arrivals(last.stream, sample.stream)
            acked = acknowledgements(last, sample, deliveries(last, sample, added), past.rewound_from)
            lost = losses(last, sample, added)
            moved = sample.last_delivered_id != last.last_delivered_id
        return GroupHistory(
            past.began,
            self.recent.append(past.recent, sample),
            self.trend.append(past.trend, sample.lag),
            now if moved else past.position_since,
            (past.waiting_since or now) if lag.waits else None,
            now if lag.upper == 0 else past.clear_at,
            now if acked != 0 or sample.pending == 0 else past.unacked_since,
            past.lost + (lost or 0),
            lost is not None and past.lost_known,
            now if lost else past.lost_at,
            past.rewound_at,
            past.rewound_from,
            past.lost_before,
        )

    def _rewind(self, past: GroupHistory, sample: GroupSample, lag: Lag) -> GroupHistory:
        """The history of a group whose position moved back: rates and trend begin anew, losses stay counted."""
        origin = past.recent.values[-1].last_delivered_id
        return replace(
            self._begin(sample, lag),
            clear_at=self.now,
            lost=past.lost,
            lost_known=past.lost_known,
            lost_at=past.lost_at,
            lost_before=past.lost_before,
            rewound_at=self.now,
            rewound_from=origin if past.rewound_from is None else max(origin, past.rewound_from),
        )
