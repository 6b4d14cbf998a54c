"""The streams, groups and consumers that a page shows, each beside its labels."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from msgspec import Struct

from streamops.exporter.counters.counting import Counters
from streamops.exporter.counters.groups import GroupCount
from streamops.exporter.counters.streams import StreamCount
from streamops.exporter.metrics.guards import (
    Guards,
    Omitted,
    Reason,
    are_plain,
    note,
    showable,
    shown_consumers,
    shown_streams,
)
from streamops.exporter.metrics.labels import GroupLabels, LabelCache, Labels, StreamLabels
from streamops.exporter.metrics.samples import milliseconds
from streamops.model.consumer_table import NOBODY, Members, Sightings
from streamops.model.observation import GroupView, Observation, StreamView
from streamops.model.snapshot import Gap
from streamops.model.streams import StreamState


class Names(Struct, frozen=True):
    """Who is shown, by name; the labels of the last page do for the next one if nothing here differs.

    Attributes:
        database: The database.
        streams: The streams.
        groups: The groups of each stream.
        consumers: The consumers of each group.
    """

    database: str
    streams: Sequence[str]
    groups: Sequence[Sequence[str]]
    consumers: Sequence[Sequence[str]]


class Gathered(Struct, frozen=True):
    """What is shown, in lists that run beside each other.

    Attributes:
        streams: The streams.
        stream_labels: Their labels.
        stream_counts: What was counted of them; none where nothing was.
        groups: The groups of all streams.
        members: Their consumers, all of them; none where they were not read.
        group_labels: Their labels.
        group_counts: What was counted of them; none where nothing was.
        consumers: The consumers to show of each group.
        consumer_labels: The labels of all these.
        omitted: What is left out.
    """

    streams: Sequence[StreamState]
    stream_labels: Sequence[StreamLabels]
    stream_counts: Sequence[StreamCount | None]
    groups: Sequence[GroupView]
    members: Sequence[Members | None]
    group_labels: Sequence[GroupLabels]
    group_counts: Sequence[GroupCount | None]
    consumers: Sequence[Sightings]
    consumer_labels: Sequence[Labels]
    omitted: Omitted


class Gatherer:
    """Gathers what is shown of one server's observations."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self._shows_groups, self._shows_consumers = guards.shows_groups, guards.shows_consumers
        self._names = Names("", (), (), ())
        self._plain: dict[str, Sequence[Sequence[str]]] = {}
        self._streams: LabelCache[StreamLabels] = LabelCache()
        self._labels: tuple[list[StreamLabels], list[GroupLabels], list[Labels]] = ([], [], [])

    def gather(self, observation: Observation, counters: Counters) -> Gathered:
        """What is shown of an observation."""
        omitted: Omitted = Counter()
        views = shown_streams(self._guards, observation.streams, omitted)
        views = showable(views, [view.stream.name for view in views], "stream", omitted)
        groups, group_names = self._groups(views, omitted)
        flat = list(chain.from_iterable(groups))
        now = milliseconds(observation.snapshot.collected_at)
        members = [None if (some := view.group.members) is None else Members.of(some, now) for view in flat]
        consumers, consumer_names = self._consumers(flat, members, observation.snapshot.gaps, omitted)
        names = Names(
            str(observation.snapshot.server.database),
            [view.stream.name for view in views],
            group_names,
            consumer_names,
        )
        counts = [counters.streams.get(name) for name in names.streams]
        return Gathered(
            [view.stream for view in views],
            self._see(names)[0],
            counts,
            flat,
            members,
            self._labels[1],
            [
                None if count is None else count.groups.get(name)
                for count, some in zip(counts, names.groups, strict=True)
                for name in some
            ],
            consumers,
            self._labels[2],
            omitted,
        )

    def _groups(
        self, views: Sequence[StreamView], omitted: Omitted
    ) -> tuple[Sequence[Sequence[GroupView]], Sequence[Sequence[str]]]:
        """The groups to show of each stream, and their names."""
        groups = [view.groups for view in views]
        if not self._shows_groups:
            note(omitted, "group", Reason.GRANULARITY, sum(map(len, groups)))
            return [()] * len(groups), [()] * len(groups)
        names = _group_names(groups)
        if self._are_plain("group", names):
            return groups, names
        shown = [showable(some, those, "group", omitted) for some, those in zip(groups, names, strict=True)]
        return shown, _group_names(shown)

    def _consumers(
        self,
        views: Sequence[GroupView],
        members: Sequence[Members | None],
        gaps: Sequence[Gap],
        omitted: Omitted,
    ) -> tuple[Sequence[Sightings], Sequence[Sequence[str]]]:
        """The consumers to show of each group, and their names."""
        if not self._shows_consumers:
            note(omitted, "consumer", Reason.GRANULARITY, sum([len(some) for some in members if some]))
            return [NOBODY] * len(members), [()] * len(members)
        capped = {(gap.stream, gap.group) for gap in gaps if gap.capped}
        for view in views if capped else ():
            if not view.group.members and (view.stream, view.group.name) in capped:
                note(omitted, "consumer", Reason.MAX_CONSUMERS, view.group.consumers)
        guards = self._guards
        shown = [NOBODY if some is None else shown_consumers(guards, some, omitted) for some in members]
        names = [one.names for one in shown]
        if self._are_plain("consumer", names):
            return shown, names
        shown = [_showable(one, omitted) for one in shown]
        return shown, [one.names for one in shown]

    def _are_plain(self, scope: str, names: Sequence[Sequence[str]]) -> bool:
        """Whether all names of groups or consumers can be shown as they are; the same ones are looked at once."""
        if self._plain.get(scope) != names:
            if not are_plain([*chain.from_iterable(names)]):
                return False
            self._plain[scope] = names
        return True

    def _see(self, names: Names) -> tuple[list[StreamLabels], list[GroupLabels], list[Labels]]:
        """The labels of streams, groups and consumers of these names."""
        if names != self._names:
            if names.database != self._names.database:
                self._streams = LabelCache()
            streams = self._streams.see(names.streams, lambda name: StreamLabels((names.database, name)))
            groups = [
                label
                for stream, some in zip(streams, names.groups, strict=True)
                for label in stream.groups(some)
            ]
            consumers = [
                label
                for group, some in zip(groups, names.consumers, strict=True)
                for label in group.consumers(some)
            ]
            self._names, self._labels = names, (streams, groups, consumers)
        return self._labels


def _group_names(groups: Sequence[Sequence[GroupView]]) -> list[list[str]]:
    return [[one.group.name for one in some] for some in groups]


def _showable(told: Sightings, omitted: Omitted) -> Sightings:
    """The consumers without those whose names are too long, or would print like another one's beside them."""
    places = range(len(told.names))
    kept = showable(places, told.names, "consumer", omitted)
    return told if kept is places else told.only(kept)
