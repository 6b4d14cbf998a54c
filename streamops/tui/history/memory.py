"""The memory behind the charts: the groups of a server, and the server as a whole."""

from array import array
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import compress
from math import isnan
from typing import Final, NamedTuple

from streamops.model.observation import GroupView, Health, Observation, StreamView
from streamops.resources.charts.scale import Mark, Point
from streamops.tui.history.rings import FACTOR, Resolution, Ring, RingShape, Ticks
from streamops.tui.history.rows import (
    GROUP_SHAPE,
    TOTAL_SHAPE,
    RunningTotals,
    Totals,
    group_row,
    nothing,
    totals_row,
)
from streamops.tui.rows.ordering import PerItemCache

TIERS: Final = (Resolution(2, 150), Resolution(10, 180), Resolution(60, 180), Resolution(300, 288))
"""Five minutes, half an hour, three hours and a day: some 32 KB for a group, whatever happens."""

MOST_GROUPS: Final = 500
ABSENT: Final = 900.0
"""Seconds after which a group that is no longer there is forgotten."""
LATE: Final = 60.0
"""Seconds by which an observation may be older than the last one without the server's clock having been set back."""

Key = tuple[str, str]


class Track(NamedTuple):
    """One measure of a group's, or of all: where it stands in a row.

    Attributes:
        column: Its column.
        bounded: Whether the column after it says what it rests on.
    """

    column: int
    bounded: bool = False


LAG, TIME_LAG, PENDING_AGE = Track(0, bounded=True), Track(2), Track(3)
ADDED, ACKED, DELIVERED = Track(4), Track(6), Track(8)
ALL_WAITING, ALL_DEAD_LETTERS = Track(0, bounded=True), Track(2)
ALL_ADDED, ALL_ARRIVED, ALL_DELIVERED, ALL_ACKED = Track(3), Track(5), Track(7), Track(9)


class RingSet:
    """The rings of one thing.

    Attributes:
        rings: One for each tier.
        seen: When it was last observed.
        fault: Whether something was found about it then.
        wanted: Whether somebody looked at its charts.
    """

    __slots__ = ("fault", "rings", "seen", "wanted")

    def __init__(self, shape: RingShape) -> None:
        self.rings = tuple(Ring(tier, shape) for tier in TIERS)
        self.seen = 0.0
        self.fault = False
        self.wanted = False


class MetricsHistory:
    """What is remembered of one server since the console began to look at it.

    If there are more groups than there is room for, the first ones are remembered, and those that have a
    finding or were looked at take the place of others.

    Args:
        most: How many groups are remembered.

    Attributes:
        since: Server time of the first observation, in seconds since 1970; none before it.
    """

    def __init__(self, most: int = MOST_GROUPS) -> None:
        self._most = most
        self.since: float | None = None
        self.totals = Totals()
        self._at = 0.0
        self._gap = 0.0
        self._wishes: set[Key] = set()
        self._begin()

    def _begin(self) -> None:
        self._ticks = tuple(Ticks(tier) for tier in TIERS)
        self._groups: dict[Key, RingSet] = {}
        self._whole = RingSet(TOTAL_SHAPE)
        self._sums = RunningTotals()
        self._remembered: frozenset[str] = frozenset()
        self._is_concerned = PerItemCache[StreamView, bool](self._concerns)

    def __len__(self) -> int:
        return len(self._groups)

    def take(self, observation: Observation, every: timedelta | None = None) -> None:
        """Remember an observation.

        Args:
            observation: The observation; one that is not newer than the last is left out.
            every: The time between two of them now, as it was asked for.
        """
        at = observation.snapshot.collected_at.timestamp()
        if self.since is not None and at <= self._at:
            if at > self._at - LATE:
                return
            self._begin()
            self.since = None
        joined = self._is_joined(at, every)
        for ticks in self._ticks:
            ticks.advance(at, joined=joined)
        self.since = at if self.since is None else self.since
        self.totals = self._sums.take(observation.streams)
        self._write(self._whole, totals_row(self.totals))
        self._take_groups(observation.streams, at)

    def want(self, stream: str, group: str) -> None:
        """Remember a group from now on, whoever has to give way."""
        self._wishes.add((stream, group))

    def remembers(self, stream: str, group: str) -> bool:
        """Whether a group is remembered."""
        return (stream, group) in self._groups

    def points(self, stream: str, group: str, track: Track, tier: Resolution, until: float) -> list[Point]:
        """What is remembered of one measure of a group, oldest first, up to an instant; nothing of one that is not."""
        kept = self._groups.get((stream, group))
        return [] if kept is None else list(self._points(kept, track, tier, until))

    def whole(self, track: Track, tier: Resolution, until: float) -> list[Point]:
        """What is remembered of one measure of all together."""
        return list(self._points(self._whole, track, tier, until))

    # -- inside --------------------------------------------------------------------------------------

    def _is_joined(self, at: float, every: timedelta | None) -> bool:
        """Whether nothing is missing between the last observation and this one."""
        first = self.since is None
        gap, last = 0.0 if first else at - self._at, self._gap
        self._at, self._gap = at, gap
        asked = 0.0 if every is None else every.total_seconds()
        return not first and gap <= FACTOR * max(asked, last, TIERS[0].spacing)

    def _take_groups(self, streams: Sequence[StreamView], at: float) -> None:
        leaving = self._quiet()
        for stream in self._concerned(streams):
            for view in stream.groups:
                self._take_group(view, at, leaving)
        self._mark_absent(at)

    def _concerned(self, streams: Sequence[StreamView]) -> Sequence[StreamView]:
        """The streams with a group that is remembered or may be: of ten thousand groups most are neither."""
        if len(self._groups) < self._most:
            return streams
        names = frozenset(stream for stream, _ in (*self._groups, *self._wishes))
        if names != self._remembered:
            self._remembered = names
            self._is_concerned = PerItemCache(self._concerns)
        return [*compress(streams, self._is_concerned.values(streams))]

    def _concerns(self, view: StreamView) -> bool:
        return view.health >= Health.WARN or view.stream.name in self._remembered

    def _take_group(self, view: GroupView, at: float, leaving: Iterator[Key]) -> None:
        key = (view.stream, view.group.name)
        kept = self._groups.get(key) or self._admit(key, view, leaving)
        if kept is not None:
            kept.seen, kept.fault = at, view.health >= Health.WARN
            self._write(kept, group_row(view))

    def _admit(self, key: Key, view: GroupView, leaving: Iterator[Key]) -> RingSet | None:
        """Make room for a group, if there is a reason to."""
        wanted = key in self._wishes
        if len(self._groups) >= self._most:
            if not wanted and view.health < Health.WARN:
                return None
            victim = next(leaving, None) or (self._unwanted() if wanted else None)
            if victim is None:
                return None
            del self._groups[victim]
        kept = self._groups[key] = RingSet(GROUP_SHAPE)
        kept.wanted = wanted
        self._wishes.discard(key)
        return kept

    def _quiet(self) -> Iterator[Key]:
        """Groups that may give way, each once."""
        if len(self._groups) < self._most:
            return iter(())
        return iter([key for key, kept in self._groups.items() if not (kept.fault or kept.wanted)])

    def _unwanted(self) -> Key | None:
        """A group that nobody looked at; None if somebody looked at every one."""
        return next((key for key, kept in self._groups.items() if not kept.wanted), None)

    def _mark_absent(self, at: float) -> None:
        for key, kept in list(self._groups.items()):
            if kept.seen == at:
                continue
            if at - kept.seen > ABSENT:
                del self._groups[key]
            else:
                self._write(kept, nothing(GROUP_SHAPE))

    def _write(self, kept: RingSet, row: "array[float]") -> None:
        for ring, ticks in zip(kept.rings, self._ticks, strict=True):
            ring.write(ticks.slot, row, fresh=ticks.fresh)

    def _points(self, kept: RingSet, track: Track, tier: Resolution, until: float) -> Iterator[Point]:
        place = TIERS.index(tier)
        ring = kept.rings[place]
        for slot, at, joined in self._ticks[place].kept():
            if at > until:
                return
            row = ring.row(slot)
            value = row[track.column]
            mark = Mark(int(row[track.column + 1])) if track.bounded and not isnan(value) else Mark.KNOWN
            yield Point(at, None if isnan(value) else value, mark, joined)
