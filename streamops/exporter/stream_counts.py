"""Counters that Redis does not keep: what moved from one observation to the next, added up. Pure; none ever falls.

What was counted of a stream or a group is kept while its counters are set, while it is made anew, and for a
quarter of an hour after it was last seen. A step that cannot be told adds nothing, and is itself counted.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from streamops.exporter.group_counts import GroupCount, advance_group, begin_again, begin_group
from streamops.model.entries import EPOCH
from streamops.model.observation import Observation
from streamops.model.streams import MILLISECOND, ConsumerGroup, Members, Snapshot, StreamState
from streamops.monitor.rates import arrivals
from streamops.monitor.samples import GroupSample, StreamSample, recreated, sample_group, sample_stream

REMEMBERED_FOR: Final = timedelta(minutes=15)
"""How long what was counted of something out of sight is kept."""

MARGIN: Final = timedelta(seconds=2)
"""How far apart the clock and the idle times of one reading may be read."""

Count = TypeVar("Count")


def _milliseconds(at: datetime) -> int:
    return (at - EPOCH) // MILLISECOND


class Absent(Struct, Generic[Count], frozen=True):
    """What was counted of something that is out of sight.

    Attributes:
        since: When it was first missing, by the server's clock.
        count: What was counted of it.
    """

    since: datetime
    count: Count


class CountingStep(Struct, frozen=True):
    """What the counters of all streams share as they take one step.

    Attributes:
        now: The server's clock.
        fed_after: Who got an entry since the step before, got it later than this, in milliseconds since the epoch; none if
            there was no step before.
        gaps: Streams and groups about which something could not be read.
    """

    now: datetime
    fed_after: int | None
    gaps: frozenset[tuple[str | None, str | None]]

    @classmethod
    def of(cls, snapshot: Snapshot, since: datetime | None) -> "CountingStep":
        """The step to a snapshot."""
        fed_after = None if since is None else _milliseconds(since - MARGIN)
        return cls(
            snapshot.collected_at, fed_after, frozenset((gap.stream, gap.group) for gap in snapshot.gaps)
        )

    def may_have_fed(self, group: ConsumerGroup) -> bool:
        """Whether a consumer of a group may have got an entry since the step before."""
        if self.fed_after is None or group.members is None:
            return True
        told = Members.of(group.members, _milliseconds(self.now)).sightings
        for seen, active in zip(told.seen, told.active, strict=True):
            if (seen if active is None else active) > self.fed_after:
                return True
        return False

    def remembers(self, since: datetime) -> bool:
        """Whether something is still remembered that has been missing since then."""
        return self.now - since < REMEMBERED_FOR

    def explains(self, stream: str, group: str) -> bool:
        """Whether a gap may be why a group of a stream was not seen."""
        return bool(self.gaps) and not self.gaps.isdisjoint(((None, None), (stream, None), (stream, group)))


class StreamCount(Struct, frozen=True):
    """What was counted of one stream.

    Attributes:
        sample: What is remembered of the last reading.
        added: Entries added: the server's count when it was first seen, and all that came since; of a stream that is not
            what it was, what must have come.
        removed: Entries removed since it was first seen.
        groups: Its groups, by name.
        away: Its groups that were not in the last reading, by name.
    """

    sample: StreamSample
    added: int
    removed: int
    groups: Mapping[str, GroupCount]
    away: Mapping[str, Absent[GroupCount]] = {}


def _begin_stream(state: StreamState) -> StreamCount:
    """What is counted of a stream that is seen for the first time."""
    sample = sample_stream(state)
    groups = {group.name: begin_group(sample_group(group, sample)) for group in state.groups}
    return StreamCount(sample, sample.entries_added or 0, 0, groups)


def _advance_stream(past: StreamCount, state: StreamState, step: CountingStep) -> StreamCount:
    """What is counted of a stream with one more reading of it; the same object where nothing moved."""
    last, sample = past.sample, sample_stream(state)
    if still := sample == last:
        # Its groups are told apart by themselves, and share the sample.
        sample = last
    anew = not still and _made_anew(last, sample)
    added = _added_anew(last, sample) if anew else arrivals(last, sample)
    seen = _added_at_least(last, sample) if added is None else added
    removed = 0 if seen is None else max(0, seen + last.length - sample.length)
    groups: dict[str, GroupCount] = {}
    for group in state.groups:
        name = group.name
        before = past.groups.get(name)
        if before is None and name in past.away:
            before = past.away[name].count
        now = sample_group(group, sample)
        if before is None:
            groups[name] = begin_group(now)
        elif anew:
            groups[name] = begin_again(before, now)
        else:
            groups[name] = _advanced(before, now, group, added, step)
    if still and groups == past.groups and not past.away:
        return past

    def keep(name: str, count: GroupCount) -> GroupCount:
        # Without a gap it was destroyed, and what comes back under its name is another group.
        return count if step.explains(state.name, name) else replace(count, sample=None)

    away = past.away
    if away or not past.groups.keys() <= groups.keys():
        away = _away(away, past.groups, groups, step, keep)
    return StreamCount(sample, past.added + (seen or 0), past.removed + removed, groups, away)


def _advanced(
    before: GroupCount, now: GroupSample, group: ConsumerGroup, added: int | None, step: CountingStep
) -> GroupCount:
    last = before.sample
    moved = last is not None and last.last_delivered_id != now.last_delivered_id
    return advance_group(before, now, added, fed=not moved or step.may_have_fed(group))


def _made_anew(last: StreamSample, sample: StreamSample) -> bool:
    """Whether the key must hold another stream than before.

    One that still begins with the same entry does not: its counter was set, or a server has taken over that had
    not got the last entries yet.
    """
    return recreated(last, sample) and (last.first_id is None or sample.first_id != last.first_id)


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
    """Entries that must have been added where the server does not count them: before Redis 7.0; none where it does."""
    if sample.entries_added is not None or recreated(last, sample):
        return None
    first, highest = sample.first_id, last.last_generated_id
    if first is not None and highest is not None and first > highest:
        # Whatever was there is gone, be it trimmed or the whole stream made anew.
        return sample.length
    return max(0, sample.length - last.length)


def _away(
    away: Mapping[str, Absent[Count]],
    past: Mapping[str, Count],
    seen: Mapping[str, Count],
    step: CountingStep,
    keep: Callable[[str, Count], Count],
) -> Mapping[str, Absent[Count]]:
    """What is out of sight now, and has not been for too long.

    Args:
        away: What was out of sight before.
        past: What was in sight before.
        seen: What is in sight now.
        step: The step from then to now.
        keep: What to keep of a count.
    """
    if not away and past.keys() <= seen.keys():
        return away
    kept = {
        name: absent for name, absent in away.items() if name not in seen and step.remembers(absent.since)
    }
    gone = [(name, count) for name, count in past.items() if name not in seen]
    return kept | {name: Absent(step.now, keep(name, count)) for name, count in gone}


MOST_AWAY: Final = 20_000
"""Streams out of sight that are remembered at once; the longest gone are forgotten first."""


class Counters(Struct, frozen=True):
    """What was counted so far.

    Attributes:
        streams: Of the streams of the last observation, by name.
        away: Of streams that were not in it, by name, the longest gone first.
        at: The server's clock at the last observation; none before the first.
    """

    streams: Mapping[str, StreamCount] = {}
    away: Mapping[str, Absent[StreamCount]] = {}
    at: datetime | None = None


NO_COUNTERS: Final = Counters()


def advance(counters: Counters | None, observation: Observation) -> Counters:
    """The counters with one more observation; those of streams that did not change are the same objects."""
    past = counters or NO_COUNTERS
    step = CountingStep.of(observation.snapshot, past.at)
    known, streams = past.streams, {}
    for view in observation.streams:
        state = view.stream
        name = state.name
        before = known.get(name)
        if before is None and name in past.away:
            before = past.away[name].count
        streams[name] = _begin_stream(state) if before is None else _advance_stream(before, state, step)
    away = _away(past.away, past.streams, streams, step, lambda _, count: count)
    return Counters(streams, dict(islice(away.items(), max(0, len(away) - MOST_AWAY), None)), step.now)
