"""Rows: the nouns as tables hold them, one row a line."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EntryId, PendingEntry, StreamEntry, id_age
from streamops.model.observation import Finding, GroupView, Observation, StreamView
from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS, PendingProfile
from streamops.model.streams import Consumer
from streamops.resources.units import terse


class GroupRow(Struct, frozen=True):
    """A stream with one of its groups, or with none where it has none."""

    stream: StreamView
    group: GroupView | None


class ConsumerRow(Struct, frozen=True):
    """A consumer with the names of its stream and group."""

    stream: str
    group: str
    consumer: Consumer


class PendingRow(Struct, frozen=True):
    """A pending entry and the server's clock when it was read; none where that may not be asked."""

    entry: PendingEntry
    now: datetime | None

    @property
    def age(self) -> timedelta | None:
        """Time since the entry was produced, by its ID; none where that cannot be told."""
        return None if self.now is None else id_age(self.entry.id, self.now)


class EntryRow(Struct, frozen=True):
    """An entry with the name of its stream."""

    stream: str
    entry: StreamEntry


class SummaryRow(Struct, frozen=True):
    """A group's pending entries as a whole, as XPENDING sums them up."""

    stream: str
    group: str
    pending: int
    smallest_id: EntryId | None
    greatest_id: EntryId | None
    consumers: int


class OwnerRow(Struct, frozen=True):
    """A consumer and how many pending entries it has."""

    consumer: str
    pending: int


class ProfileRow(Struct, frozen=True):
    """One bucket of a distribution of pending entries."""

    measure: str
    bucket: str
    entries: int
    share: float


class FindingRow(Struct, frozen=True):
    """A finding with what it is about: a group, a stream, or (neither given) the server."""

    stream: str | None
    group: str | None
    finding: Finding


OWN: Final = "streamops:"
"""What names of keys begin with that streamops keeps for itself."""


def asked_for_alone(stream: StreamView) -> bool:
    """Whether people see a stream only if they ask for it: it is one of streamops itself, such as the audit log, and nothing is wrong."""
    return stream.stream.name.startswith(OWN) and not stream.groups and not stream.findings


def group_rows(streams: Iterable[StreamView]) -> tuple[GroupRow, ...]:
    """One row a group, in the order given; a stream without groups has one row too."""
    return tuple(GroupRow(stream, group) for stream in streams for group in stream.groups or (None,))


def consumer_rows(group: GroupView) -> tuple[ConsumerRow, ...]:
    """One row a consumer; none where the consumers were not read."""
    return tuple(ConsumerRow(group.stream, group.group.name, member) for member in group.group.members or ())


def profile_rows(profile: PendingProfile) -> tuple[ProfileRow, ...]:
    """One row a bucket, idle times first."""
    idle = [*(terse(bound) for bound in IDLE_BOUNDS), "longer"]
    deliveries = [*map(str, DELIVERY_BOUNDS), "more"]
    buckets = [
        *(("idle", *pair) for pair in zip(idle, profile.idle_buckets, strict=True)),
        *(("deliveries", *pair) for pair in zip(deliveries, profile.delivery_buckets, strict=True)),
    ]
    total = max(profile.scanned, 1)
    return tuple(ProfileRow(measure, end, entries, entries / total) for measure, end, entries in buckets)


def finding_rows(observation: Observation) -> tuple[FindingRow, ...]:
    """Every finding, the worst first, and within a level in the order server, stream, groups."""
    rows = [FindingRow(None, None, finding) for finding in observation.findings]
    for stream in observation.streams:
        rows += [FindingRow(stream.stream.name, None, finding) for finding in stream.findings]
        for group in stream.groups:
            rows += [FindingRow(group.stream, group.group.name, finding) for finding in group.findings]
    return tuple(sorted(rows, key=lambda row: -row.finding.level))


def limited(observation: Observation, limit: int | None) -> tuple[Observation, int]:
    """Keep the first ``limit`` rows of ``group_rows``; return the rest of the observation and the rows left out."""
    rows = group_rows(observation.streams)
    if limit is None or len(rows) <= limit:
        return observation, 0
    kept: dict[str, StreamView] = {}
    for row in rows[:limit]:
        name = row.stream.stream.name
        groups = kept[name].groups if name in kept else ()
        added = (row.group,) if row.group is not None else ()
        kept[name] = replace(row.stream, groups=(*groups, *added))
    return replace(observation, streams=tuple(kept.values())), len(rows) - limit
