"""The streams, groups and consumers that a page shows, each beside its labels."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

from msgspec import Struct

from streamops.exporter.counters.counting import Counters
from streamops.exporter.counters.groups import GroupCount
from streamops.exporter.counters.streams import StreamCount
from streamops.exporter.metrics.guards import (
    Guards,
    Omitted,
    Reason,
    Subject,
    distinct,
    note,
    shown_consumers,
    shown_streams,
)
from streamops.exporter.metrics.labels import Labels
from streamops.exporter.metrics.remembered import GroupLabels, Remembered, StreamLabels
from streamops.model.observation import GroupView, Observation, StreamView
from streamops.model.snapshot import Gap
from streamops.model.streams import Consumer, StreamState


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
        group_labels: Their labels.
        group_counts: What was counted of them; none where nothing was.
        consumers: The consumers of all groups.
        consumer_labels: Their labels.
        omitted: What is left out.
    """

    streams: Sequence[StreamState]
    stream_labels: Sequence[StreamLabels]
    stream_counts: Sequence[StreamCount | None]
    groups: Sequence[GroupView]
    group_labels: Sequence[GroupLabels]
    group_counts: Sequence[GroupCount | None]
    consumers: Sequence[Consumer]
    consumer_labels: Sequence[Labels]
    omitted: Omitted


class Gatherer:
    """Gathers what is shown of one server's observations."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self._shows_groups, self._shows_consumers = guards.shows_groups, guards.shows_consumers
        self._names = Names("", (), (), ())
        self._streams: Remembered[StreamLabels] = Remembered()
        self._labels: tuple[list[StreamLabels], list[GroupLabels], list[Labels]] = ([], [], [])

    def gather(self, observation: Observation, counters: Counters) -> Gathered:
        """What is shown of an observation."""
        omitted: Omitted = Counter()
        views = shown_streams(self._guards, observation.streams, omitted)
        views = distinct(views, [view.stream.name for view in views], "stream", omitted)
        groups = self._groups(views, omitted)
        flat = list(chain.from_iterable(groups))
        consumers = self._consumers(flat, observation.snapshot.gaps, omitted)
        names = Names(
            str(observation.snapshot.server.database),
            [view.stream.name for view in views],
            _group_names(groups),
            _consumer_names(consumers),
        )
        counts = [counters.streams.get(name) for name in names.streams]
        return Gathered(
            [view.stream for view in views],
            self._see(names)[0],
            counts,
            flat,
            self._labels[1],
            [
                None if count is None else count.groups.get(name)
                for count, some in zip(counts, names.groups, strict=True)
                for name in some
            ],
            list(chain.from_iterable(consumers)),
            self._labels[2],
            omitted,
        )

    def _groups(self, views: Sequence[StreamView], omitted: Omitted) -> Sequence[Sequence[GroupView]]:
        """The groups to show of each stream."""
        groups = [view.groups for view in views]
        if not self._shows_groups:
            note(omitted, "group", Reason.GRANULARITY, sum(map(len, groups)))
            return [()] * len(groups)
        return _distinct(groups, _group_names, "group", omitted)

    def _consumers(
        self, views: Sequence[GroupView], gaps: Sequence[Gap], omitted: Omitted
    ) -> Sequence[Sequence[Consumer]]:
        """The consumers to show of each group."""
        members = [view.group.members or () for view in views]
        if not self._shows_consumers:
            note(omitted, "consumer", Reason.GRANULARITY, sum(map(len, members)))
            return [()] * len(members)
        capped = {(gap.stream, gap.group) for gap in gaps if gap.capped}
        for view in views if capped else ():
            if not view.group.members and (view.stream, view.group.name) in capped:
                note(omitted, "consumer", Reason.MAX_CONSUMERS, view.group.consumers)
        shown = [shown_consumers(self._guards, some, omitted) for some in members]
        return _distinct(shown, _consumer_names, "consumer", omitted)

    def _see(self, names: Names) -> tuple[list[StreamLabels], list[GroupLabels], list[Labels]]:
        """The labels of streams, groups and consumers of these names."""
        if names != self._names:
            if names.database != self._names.database:
                self._streams = Remembered()
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


def _consumer_names(consumers: Sequence[Sequence[Consumer]]) -> list[list[str]]:
    return [[one.name for one in some] for some in consumers]


def _distinct(
    subjects: Sequence[Sequence[Subject]],
    names_of: Callable[[Sequence[Sequence[Subject]]], list[list[str]]],
    scope: str,
    omitted: Omitted,
) -> Sequence[Sequence[Subject]]:
    """The subjects without those whose names would print like another one's beside them."""
    names = names_of(subjects)
    if all(map(str.isascii, chain.from_iterable(names))):
        # Nearly always: no name prints as anything but itself.
        return subjects
    return [distinct(some, those, scope, omitted) for some, those in zip(subjects, names, strict=True)]
