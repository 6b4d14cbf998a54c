"""What a page is made of: a reading, and which streams, groups and consumers of it are shown. Pure."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct

import streamops
from streamops.exporter.series_limits import (
    Omitted,
    Reason,
    SeriesLimits,
    are_plain,
    note,
    showable,
    shown_consumers,
    shown_streams,
)
from streamops.model.entries import EPOCH, PendingEntry
from streamops.model.observation import (
    NO_QUEUE_METRICS,
    Finding,
    GroupCounts,
    GroupView,
    Observation,
    QueueMetrics,
    StreamCounts,
)
from streamops.model.streams import (
    MILLISECOND,
    NOBODY,
    ConsumerColumns,
    ConsumerGroup,
    Members,
    ReadError,
    ServerNode,
    StreamRole,
    StreamState,
)
from streamops.monitor.observe import findings_of_owners, without_repeats

PYTHON: Final = platform.python_version()

OK: Final = ("ok",)
UNKNOWN: Final = ("unknown",)

Labels = tuple[str, ...]
"""Values of labels, in the order of a family's label names."""


class ExporterHealth(Struct, frozen=True, kw_only=True):
    """How the exporter itself fares.

    Attributes:
        up: Whether the last attempt to read the server succeeded.
        phases: Seconds that the phases of the last scrape took, by name: collect, judge, render.
        commands: Commands sent for the snapshot; none without one.
        errors: Failures to read the server so far, by stage.
        omitted: Subjects left out before the guards saw them, by scope and reason.
        discovered: Streams that discovery knows; none if it knows of none yet.
        version: The exporter's version.
        python: The version of Python that it runs on.
    """

    up: bool = True
    phases: Mapping[str, float] = {}
    commands: int | None = None
    errors: Mapping[str, int] = {}
    omitted: Mapping[Labels, int] = {}
    discovered: int | None = None
    version: str = streamops.__version__
    python: str = PYTHON


class ScrapeReading(Struct, frozen=True):
    """What was read for one page.

    Attributes:
        observation: What was observed; none if the server could not be read.
        extras: What was read beside it.
        health: How the exporter fares.
    """

    observation: Observation | None
    extras: QueueMetrics = NO_QUEUE_METRICS
    health: ExporterHealth = ExporterHealth()


class Shown(Struct, kw_only=True):
    """What a page shows of a reading; lists of the same subjects run side by side.

    Attributes:
        reading: The reading.
        guards: The limits.
        omitted: What they left out, by scope and reason.
        database: The database.
        now: The server's clock in milliseconds since the epoch; zero without an observation.
        nodes: The processes of the server.
        gaps: What could not be read.
        streams: The streams.
        stream_labels: The values of their labels.
        stream_counts: What was counted of them.
        stream_findings: What was found about the streams by themselves.
        dead_letters: Where in these lists dead-letter queues are.
        views: The groups of all streams, as they were judged.
        groups: The same as they were read.
        group_labels: The values of their labels.
        group_counts: What was counted of them.
        statuses: What the health rules find about each: ``ok``, ``unknown``, or codes of findings.
        oldest: Their pending entries with the smallest IDs; none if nothing is pending, or it was not read.
        members: Their consumers, all of them; none if they were not read.
        consumers: The consumers to show of all groups, one after the other.
        consumer_names: The groups' labels and the names of the consumers of each: what says which those are, without
            their labels, which are made when there is another one.
        on_replica: Whether idle times tell nothing, because they reach a replica only with deliveries.
        sees_polls: Whether a consumer's idle time starts again when it asks for entries in vain.
    """

    reading: ScrapeReading
    guards: SeriesLimits
    omitted: Omitted
    database: str = ""
    now: int = 0
    nodes: Sequence[ServerNode] = ()
    gaps: Sequence[ReadError] = ()
    streams: Sequence[StreamState] = ()
    stream_labels: Sequence[Labels] = ()
    stream_counts: Sequence[StreamCounts] = ()
    stream_findings: Sequence[tuple[Finding, ...]] = ()
    dead_letters: Sequence[int] = ()
    views: Sequence[GroupView] = ()
    groups: Sequence[ConsumerGroup] = ()
    group_labels: Sequence[Labels] = ()
    group_counts: Sequence[GroupCounts] = ()
    statuses: Sequence[Sequence[str]] = ()
    oldest: Sequence[PendingEntry | None] = ()
    members: Sequence[Members | None] = ()
    consumers: ConsumerColumns = NOBODY
    consumer_names: tuple[Sequence[Labels], Sequence[Sequence[str]]] = ((), ())
    on_replica: bool = False
    sees_polls: bool = False

    @property
    def findings(self) -> Iterator[tuple[Labels, tuple[Finding, ...]]]:
        """What was found about the server, the streams and the groups, by database, stream and group.

        A retry stream does not repeat what was found about its group.
        """
        if (observation := self.reading.observation) is None:
            return
        for one in observation.findings:
            yield (self.database, one.stream or "", ""), (one,)
        for stream, found in zip(self.stream_labels, self.stream_findings, strict=True):
            if found:
                yield (*stream, ""), found
        owners = findings_of_owners(observation.streams)
        for group, view in zip(self.group_labels, self.views, strict=True):
            if view.findings and (findings := without_repeats(view, owners)):
                yield group, findings

    @property
    def status_labels(self) -> Sequence[Labels]:
        """The values of the labels of the statuses of all groups."""
        return [
            (*labels, status)
            for labels, some in zip(self.group_labels, self.statuses, strict=True)
            for status in some
        ]

    @property
    def consumer_labels(self) -> Sequence[Labels]:
        """The values of the labels of the consumers of all groups."""
        return [(*labels, name) for labels, names in zip(*self.consumer_names, strict=True) for name in names]


def show(reading: ScrapeReading, guards: SeriesLimits) -> Shown:
    """What a page shows of a reading; of one without an observation, the exporter alone."""
    shown = Shown(reading=reading, guards=guards, omitted=Counter(reading.health.omitted))
    if (observation := reading.observation) is None:
        return shown
    snapshot = observation.snapshot
    shown.nodes, shown.gaps = snapshot.server.nodes, snapshot.gaps
    shown.database = str(snapshot.server.database)
    shown.now = (snapshot.collected_at - EPOCH) // MILLISECOND
    shown.on_replica, shown.sees_polls = snapshot.server.is_replica, snapshot.server.sees_polls
    _show_streams(shown, observation)
    _show_consumers(shown)
    return shown


def _show_streams(shown: Shown, observation: Observation) -> None:
    """Streams and their groups."""
    guards, omitted, database = shown.guards, shown.omitted, shown.database
    views = shown_streams(guards, observation.streams, omitted)
    views = showable(views, [view.stream.name for view in views], "stream", omitted)
    shown.streams = [view.stream for view in views]
    shown.stream_findings = [view.findings for view in views]
    shown.stream_labels = [(database, one.name) for one in shown.streams]
    shown.dead_letters = [at for at, one in enumerate(shown.streams) if one.role is StreamRole.DEAD_LETTERS]
    shown.stream_counts = [view.counts for view in views]
    if not guards.shows_groups:
        note(omitted, "group", Reason.GRANULARITY, sum([len(view.groups) for view in views]))
        return
    groups: list[Sequence[GroupView]] = [view.groups for view in views]
    if not are_plain([one.group.name for some in groups for one in some]):
        groups = [showable(some, [one.group.name for one in some], "group", omitted) for some in groups]
    shown.views = list(chain.from_iterable(groups))
    shown.groups = [one.group for one in shown.views]
    shown.oldest = [one.oldest_pending if one.pending else None for one in shown.groups]
    shown.group_labels = [(database, one.stream, one.group.name) for one in shown.views]
    shown.group_counts = [one.counts for one in shown.views]
    shown.statuses = [_statuses_of(one) if one.health else OK for one in shown.views]


def _statuses_of(view: GroupView) -> Sequence[str]:
    return [finding.code.value for finding in view.findings] or UNKNOWN


def _show_consumers(shown: Shown) -> None:
    """The consumers of the groups."""
    guards, omitted, now = shown.guards, shown.omitted, shown.now
    shown.members = [
        None if group.members is None else Members.of(group.members, now) for group in shown.groups
    ]
    if not guards.shows_consumers:
        note(omitted, "consumer", Reason.GRANULARITY, sum([len(some) for some in shown.members if some]))
        return
    capped = {(gap.stream, gap.group) for gap in shown.gaps if gap.capped}
    for view in shown.views if capped else ():
        if not view.group.members and (view.stream, view.group.name) in capped:
            note(omitted, "consumer", Reason.MAX_CONSUMERS, view.group.consumers)
    consumers = [NOBODY if some is None else shown_consumers(guards, some, omitted) for some in shown.members]
    shown.consumers = ConsumerColumns.joined(consumers)
    if not are_plain(shown.consumers.names):
        consumers = [
            some.only(showable(range(len(some.names)), some.names, "consumer", omitted)) for some in consumers
        ]
        shown.consumers = ConsumerColumns.joined(consumers)
    shown.consumer_names = shown.group_labels, [some.names for some in consumers]
