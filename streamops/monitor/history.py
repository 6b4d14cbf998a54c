"""What is remembered of the snapshots before this one: bounded, in memory, never changed in place."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EPOCH, EntryId
from streamops.model.lag import Lag
from streamops.model.observation import NOTHING_ADDED, NOTHING_COUNTED, GroupCounts, StreamCounts
from streamops.model.streams import (
    MILLISECOND,
    ConsumerGroup,
    Members,
    Snapshot,
    StreamRole,
    StreamState,
)
from streamops.monitor.counters import NO_STEPS, UNTOLD, Steps, count_group, count_stream, group_steps
from streamops.monitor.rates import lost_before, trimmed
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
"""How long what is out of sight is remembered: its past where there is a reason, else what its counters go on from."""
MOST_AWAY = 20_000
"""Streams out of sight that are remembered at once without a reason; the longest gone are forgotten first."""
MARGIN = timedelta(seconds=2)
"""How far apart the clock and the idle times of one reading may be read."""


class GroupHistory(Struct, frozen=True, gc=False):
    """What is remembered of one group since it was first seen, or since its position moved back.

    Attributes:
        began: When that was.
        recent: The last seven readings at least five seconds apart, for rates.
        trend: The last 64 lags, spaced to span ``lag_growing_for``; None if a lag was not known.
        position_since: The first reading at the present position: nothing was delivered since.
        waiting_since: The first reading since which entries have waited without a break; None if
            none is known to wait.
        clear_at: The last reading at which nothing waited, or at which the position moved back; none
            where there was no such reading. Nothing has waited for longer than since then.
        unacked_since: The last reading up to which something may have been acknowledged, or at which
            nothing was pending: no entry was acknowledged since.
        lost: Entries proven to have been trimmed away undelivered since the group was first seen.
        lost_known: Whether every change since then let that be told, so that ``lost`` is the whole.
        lost_at: The last reading that added to ``lost``; None if nothing did.
        rewound_at: The last reading at which the position had moved back; None if it never did.
        rewound_from: The position before that, or an earlier one not caught up with when it moved back again.
        lost_before: The most entries that can have been trimmed away undelivered before that; none without a bound.
        counts: Its counters, which go on where all else begins again.
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
    counts: GroupCounts = NOTHING_COUNTED

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
    """What is remembered of one stream since it was first seen, or since it was created again.

    Attributes:
        recent: The last seven readings at least five seconds apart, for rates.
        growth: For dead letters, readings that span ``dead_letters_growth_within``; none for others.
        trimmed_at: The last reading at which trimming had provably shortened it; None if it never did.
        groups: Its groups, by name.
        counts: Its counters, which go on where all else begins again.
        away: Groups that were seen to be gone a short while ago, by name: what their counters go on from.
    """

    recent: SampleSeries[StreamSample]
    growth: SampleSeries[StreamSample] | None
    trimmed_at: datetime | None
    groups: Mapping[str, GroupHistory]
    counts: StreamCounts = NOTHING_ADDED
    away: Mapping[str, GroupHistory] = {}


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
        gone: Streams that vanished with the server they were on, or as the last ones there were; None if none did.
        away: Streams that were seen to be gone a short while ago, by name, the longest gone first: what their counters
            go on from.
    """

    since: datetime
    at: datetime
    streams: Mapping[str, StreamHistory]
    servers: frozenset[str] = frozenset()
    gone: GoneStreams | None = None
    away: Mapping[str, StreamHistory] = {}


def advance(
    history: History | None, snapshot: Snapshot, thresholds: Thresholds, *, partial: bool = False
) -> History:
    """The history with one more snapshot.

    A snapshot up to a minute older than the last came late, having been taken at the same time, or comes
    from a server that took over with its clock a little behind: it changes nothing that is remembered.
    A clock further behind begins all again but the counters.

    A stream or group that is absent loses its history; where a gap says why it is absent, only after a
    quarter of an hour. Its counters go on if it comes back within that.

    Args:
        history: The history so far; none before the first snapshot.
        snapshot: The snapshot.
        thresholds: They say how long a past some rules need.
        partial: Whether the snapshot leaves out streams on purpose, which explains their absence too.
    """
    now, step = snapshot.collected_at, _Step(snapshot, thresholds)
    if history is None:
        history = History(now, now, {})
    elif now <= history.at - LATE:
        history = History(now, now, {}, away={**history.away, **history.streams})
    elif now <= history.at:
        return _with_late(history, snapshot, step)
    known, away = history.streams, history.away
    streams = {
        state.name: step.stream(past := known.get(state.name), state, past or away.get(state.name))
        for state in snapshot.streams
    }
    missed = {
        name: past
        for name, past in known.items()
        if name not in streams and step.remembers(past.recent.times[-1])
    }
    streams |= {name: past for name, past in missed.items() if partial or step.explains(name)}
    if away or missed:
        away = {
            name: past
            for name, past in {**away, **missed}.items()
            if name not in streams and step.remembers(past.recent.times[-1])
        }
        away = dict(islice(away.items(), max(0, len(away) - MOST_AWAY), None))
    nodes = [node.replication_ids for node in snapshot.server.nodes if node.replication_ids]
    gone = history.gone if partial else _gone(history, streams, nodes, now)
    servers = frozenset(ids[0] for ids in nodes) or history.servers
    return History(history.since, now, streams, servers, gone, away)


def _gone(
    history: History, streams: Mapping[str, StreamHistory], nodes: Sequence[tuple[str, ...]], now: datetime
) -> GoneStreams | None:
    """Streams that disappeared together: they went with their server, or none is left."""
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
        streams[state.name] = (
            step.stream(None, state, history.away.get(state.name))
            if past is None
            else step.unseen(past, state)
        )
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
        self._milliseconds = (now - EPOCH) // MILLISECOND
        self._since = now, 0

    def explains(self, stream: str, group: str | None = None) -> bool:
        """Whether a gap explains why this is absent."""
        return not self.gaps.isdisjoint(((None, None), (stream, None), (stream, group)))

    def remembers(self, last: datetime) -> bool:
        """Whether what was last read then is still remembered, though it is absent now."""
        return self.now - last < REMEMBERED_FOR

    def stream(
        self, past: StreamHistory | None, state: StreamState, counted: StreamHistory | None
    ) -> StreamHistory:
        """The history of one stream with this reading of it.

        Args:
            past: Its history so far; None if it begins.
            state: The reading.
            counted: What its counters go on from; None if they begin.
        """
        sample, trimmed_at = sample_stream(state), None
        if counted is None:
            counts = StreamCounts(sample.entries_added or 0)
        elif sample == (last := counted.recent.values[-1]):
            # Nothing is kept twice, and what stands still is told by being the same object.
            sample, counts = last, counted.counts
            trimmed_at = None if past is None else past.trimmed_at
        else:
            is_other = recreated(last, sample)
            # One that still begins with the same entry is not another stream: its counter was set, or a server has taken
            # over that had not got the last entries yet.
            is_anew = is_other and (last.first_id is None or sample.first_id != last.first_id)
            counts = count_stream(counted.counts, last, sample, is_anew=is_anew)
            if is_anew:
                # Its groups are others than those of the same names before.
                counted = replace(counted, groups={}, away={**counted.away, **counted.groups})
            if is_other:
                past = None
            elif past is not None:
                trimmed_at = self.now if trimmed(last, sample) else past.trimmed_at
        growth = None
        if state.role is StreamRole.DEAD_LETTERS:
            growing = None if past is None else past.growth
            growth = self.growth.begin(sample) if growing is None else self.growth.append(growing, sample)
        groups = self._groups(past, state, sample, counted)
        return StreamHistory(
            self.recent.begin(sample) if past is None else self.recent.append(past.recent, sample),
            growth,
            trimmed_at,
            groups,
            counts,
            {} if counted is None else self._away(counted, groups),
        )

    def unseen(self, past: StreamHistory, state: StreamState) -> StreamHistory:
        """The history of one stream as it was, and the beginnings of groups that it does not know."""
        new = [group for group in state.groups if group.name not in past.groups]
        if not new:
            return past
        sample = sample_stream(state)
        begun = {
            group.name: self._begin_counted(sample_group(group, sample), group, past, created=True)
            for group in new
        }
        return replace(past, groups={**past.groups, **begun})

    def _groups(
        self,
        past: StreamHistory | None,
        state: StreamState,
        stream: StreamSample,
        counted: StreamHistory | None,
    ) -> dict[str, GroupHistory]:
        known, groups = {} if past is None else past.groups, dict[str, GroupHistory]()
        for group in state.groups:
            sample, before = sample_group(group, stream), known.get(group.name)
            groups[group.name] = (
                self._begin_counted(sample, group, counted, created=past is not None)
                if before is None
                else self._advance(before, sample, group)
            )
        if not known.keys() <= groups.keys():
            groups |= {
                name: before
                for name, before in known.items()
                if name not in groups
                and self.explains(state.name, name)
                and self.remembers(before.recent.times[-1])
            }
        return groups

    def _away(self, counted: StreamHistory, groups: Mapping[str, GroupHistory]) -> Mapping[str, GroupHistory]:
        """Groups that are gone, as long as they are remembered: what comes back under their names are other groups."""
        if not counted.away and counted.groups.keys() <= groups.keys():
            return counted.away
        return {
            name: past
            for name, past in {**counted.away, **counted.groups}.items()
            if name not in groups and self.remembers(past.recent.times[-1])
        }

    def _begin_counted(
        self, sample: GroupSample, group: ConsumerGroup, counted: StreamHistory | None, *, created: bool
    ) -> GroupHistory:
        """The history of a group that begins, with counters that go on from what is remembered of its stream."""
        begun = self._begin(sample, group.lag, created=created)
        if counted is None:
            return begun
        if past := counted.groups.get(group.name):
            _, counts, rewound_from = self._count(past, sample, group)
            return replace(begun, counts=counts, rewound_from=rewound_from)
        if past := counted.away.get(group.name):
            return replace(begun, counts=count_group(past.counts, UNTOLD))
        return begun

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

    def _count(
        self, past: GroupHistory, sample: GroupSample, group: ConsumerGroup
    ) -> tuple[Steps, GroupCounts, EntryId | None]:
        """How far the counters of a group move, what they are then, and where its position once moved back from."""
        last, origin = past.recent.values[-1], past.rewound_from
        before, after = last.last_delivered_id, sample.last_delivered_id
        if after < before:
            origin = before if origin is None else max(before, origin)
            return UNTOLD, count_group(past.counts, UNTOLD, rewinds=1), origin
        was_fed = before == after or self._may_have_fed(group, past.recent.times[-1])
        steps = group_steps(last, sample, origin, was_fed=was_fed)
        # Of an empty stream some steps are never known, which is not counted again with each reading of the same.
        is_same = sample.stream.first_id is None and sample == last
        return steps, past.counts if is_same else count_group(past.counts, steps), origin

    def _may_have_fed(self, group: ConsumerGroup, since: datetime) -> bool:
        """Whether a consumer of a group may have got an entry since a reading."""
        if group.members is None:
            return True
        if since is not self._since[0]:
            self._since = since, (since - MARGIN - EPOCH) // MILLISECOND
        fed = Members.of(group.members, self._milliseconds).sightings.fed
        return bool(fed) and max(fed) > self._since[1]

    def _advance(self, past: GroupHistory, sample: GroupSample, group: ConsumerGroup) -> GroupHistory:
        """The history of a group with one more reading of it, of the same stream."""
        last, now, lag = past.recent.values[-1], self.now, group.lag
        steps, counts, moved = NO_STEPS, past.counts, False
        if sample == last and sample.stream.first_id is not None:
            sample = last
        else:
            steps, counts, origin = self._count(past, sample, group)
            if sample.last_delivered_id < last.last_delivered_id:
                return self._rewind(past, sample, lag, counts, origin)
            moved = sample.last_delivered_id != last.last_delivered_id
        _, acked, lost = steps
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
            counts,
        )

    def _rewind(
        self, past: GroupHistory, sample: GroupSample, lag: Lag, counts: GroupCounts, origin: EntryId | None
    ) -> GroupHistory:
        """The history of a group whose position moved back: rates and trend begin again, losses stay counted."""
        return replace(
            self._begin(sample, lag),
            clear_at=self.now,
            lost=past.lost,
            lost_known=past.lost_known,
            lost_at=past.lost_at,
            lost_before=past.lost_before,
            rewound_at=self.now,
            rewound_from=origin,
            counts=counts,
        )
