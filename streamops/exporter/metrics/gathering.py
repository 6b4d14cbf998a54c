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
    distinct,
    note,
    shown_consumers,
    shown_streams,
)
from streamops.exporter.metrics.labels import Labels
from streamops.exporter.metrics.remembered import GroupLabels, Remembered, StreamLabels
from streamops.model.observation import GroupView, Observation, StreamView
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
        self._names = Names("", (), (), ())
        self._streams = _streams_of("")
        self._labels: tuple[list[StreamLabels], list[GroupLabels], list[Labels]] = ([], [], [])

    def gather(self, observation: Observation, counters: Counters) -> Gathered:
        """What is shown of an observation."""
        omitted: Omitted = Counter()
        views = self._views(observation, omitted)
        groups = [self._groups(view, omitted) for view in views]
        capped = frozenset([(gap.stream, gap.group) for gap in observation.snapshot.gaps if gap.capped])
        flat = list(chain.from_iterable(groups))
        consumers = [self._consumers(view, capped, omitted) for view in flat]
        names = Names(
            str(observation.snapshot.server.database),
            [view.stream.name for view in views],
            [[one.group.name for one in some] for some in groups],
            [[one.name for one in some] for some in consumers],
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

    def _views(self, observation: Observation, omitted: Omitted) -> Sequence[StreamView]:
        views = shown_streams(self._guards, observation.streams, omitted)
        return distinct(views, [view.stream.name for view in views], "stream", omitted)

    def _groups(self, view: StreamView, omitted: Omitted) -> Sequence[GroupView]:
        groups = view.groups
        if not groups:
            return ()
        if not self._guards.shows_groups:
            note(omitted, "group", Reason.GRANULARITY, len(groups))
            return ()
        return distinct(groups, [one.group.name for one in groups], "group", omitted)

    def _consumers(
        self, view: GroupView, capped: frozenset[tuple[str | None, str | None]], omitted: Omitted
    ) -> Sequence[Consumer]:
        members = view.group.members
        if not members:
            if capped and self._guards.shows_consumers and (view.stream, view.group.name) in capped:
                note(omitted, "consumer", Reason.MAX_CONSUMERS, view.group.consumers)
            return ()
        if not self._guards.shows_consumers:
            note(omitted, "consumer", Reason.GRANULARITY, len(members))
            return ()
        shown = shown_consumers(self._guards, members, omitted)
        return distinct(shown, [one.name for one in shown], "consumer", omitted)

    def _see(self, names: Names) -> tuple[list[StreamLabels], list[GroupLabels], list[Labels]]:
        """The labels of streams, groups and consumers of these names."""
        if names != self._names:
            if names.database != self._names.database:
                self._streams = _streams_of(names.database)
            streams = self._streams.see(names.streams)
            groups = [
                label
                for stream, some in zip(streams, names.groups, strict=True)
                for label in stream.groups.see(some)
            ]
            consumers = [
                label
                for group, some in zip(groups, names.consumers, strict=True)
                for label in group.consumers.see(some)
            ]
            self._names, self._labels = names, (streams, groups, consumers)
        return self._labels


def _streams_of(database: str) -> Remembered[StreamLabels]:
    return Remembered(lambda name: StreamLabels((database, name)))
