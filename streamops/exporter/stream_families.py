"""The families of streams, consumer groups, consumers and dead-letter queues. Pure.

A function gives a whole column: one comprehension a family is several times as fast as one call a subject.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from streamops.exporter.families import Scope, Value, Values
from streamops.exporter.shown import Shown
from streamops.model.entries import CLOCK_TOLERANCE, EARLIEST_PLAUSIBLE, EPOCH, EntryId
from streamops.model.observation import ALL_COUNTED, Health
from streamops.model.streams import MILLISECOND, Members
from streamops.monitor.pending_scan import dangling

ACTIVE_MILLISECONDS: Final = timedelta(seconds=60) // MILLISECOND
EARLIEST: Final = (EARLIEST_PLAUSIBLE - EPOCH) // MILLISECOND
TOLERANCE: Final = CLOCK_TOLERANCE // MILLISECOND
TENTH: Final = 100
"""Milliseconds to which instants that come of idle times are rounded.

The clock and idle times are read some milliseconds apart: told more exactly, what stands still would seem to move.
"""

READ: Final = "one read of the stream, shared by all its metrics"
DETAILS: Final = "part of the read of the stream; one command a group where that is not cheap"
COUNTED: Final = "positive differences between readings, since the exporter first saw the group"

IN_GROUPS: Final = "Consumer groups"

STREAM: Final = Scope("Streams", ("db", "stream"), READ, lambda shown: shown.stream_labels)
GROUP: Final = Scope(IN_GROUPS, ("db", "stream", "group"), READ, lambda shown: shown.group_labels)
GROUP_STATUS: Final = Scope(
    IN_GROUPS,
    (*GROUP.labels, "status"),
    "none",
    lambda shown: shown.status_labels,
    lambda shown: (shown.group_labels, shown.statuses),
)
FINDING: Final = Scope("Findings", (*GROUP.labels, "code", "severity"), "none")
GROUP_COUNTER: Final = Scope(IN_GROUPS, (*GROUP.labels, "counter"), "none")
CONSUMER: Final = Scope(
    "Consumers",
    (*GROUP.labels, "consumer"),
    DETAILS,
    lambda shown: shown.consumer_labels,
    lambda shown: shown.consumer_names,
)
DEAD_LETTERS: Final = Scope(
    "Dead letters",
    ("db", "stream", "source"),
    READ,
    lambda shown: [(*shown.stream_labels[at], shown.streams[at].source or "") for at in shown.dead_letters],
)


def of_ids(ids: Iterable[EntryId | None], now: int) -> list[Value]:
    """The times in entry IDs, if they are plausible ones by the server's clock in milliseconds."""
    latest = now + TOLERANCE
    return [
        one[0] if one is not None and EARLIEST <= one[0] <= latest else None  # the ID's ``ms``
        for one in ids
    ]


def of_consumers(shown: Shown, instants: Sequence[int | None]) -> list[Value]:
    """Instants of all consumers, rounded.

    One that lies ahead of the server's clock by a little is of a moment later, or of another node, and is told as now.
    Else the clock was set back, and it is not known how long ago it was.
    """
    now = shown.now
    if max(filter(None, instants), default=0) > now:
        instants = [None if at is None or at > now + TOLERANCE else min(at, now) for at in instants]
    return [at and at // TENTH * TENTH for at in instants]


def _by_idle_time(shown: Shown, instants: Sequence[int | None]) -> list[Value]:
    """The same of instants that idle times tell, which do not on a replica."""
    return [None] * len(instants) if shown.on_replica else of_consumers(shown, instants)


def _active_of(members: Members | None, *, tells: bool) -> int | None:
    """Consumers of a group seen of late; none if idle times do not show, the clock was set back, or they were not read."""
    if members is None:
        return None
    seen, now = members.sightings.seen, members.now
    if not seen:
        return 0
    if not tells or max(seen) > now + TOLERANCE:
        return None
    since = now - ACTIVE_MILLISECONDS
    return len(seen) if min(seen) >= since else sum([at >= since for at in seen])


SEVERITIES: Final = {Health.WARN: "warning", Health.CRITICAL: "critical"}


@STREAM.family("entries", "XLEN")
def stream_length(shown: Shown) -> Values:
    """Entries in the stream."""
    return [one.length for one in shown.streams]


@STREAM.family(
    "entries",
    "entries-added; Redis 6.2 does not count: there what must have been added, by length and first entry",
)
def stream_entries_added_total(shown: Shown) -> Values:
    """Entries ever added to the stream, as far as the server and this exporter saw it; goes on where a stream is made again."""
    return [one.added for one in shown.stream_counts]


@STREAM.family("entries", "differences of entries-added less differences of the length")
def stream_removed_entries_total(shown: Shown) -> Values:
    """Entries trimmed or deleted from the stream since the exporter first saw it."""
    return [one.removed for one in shown.stream_counts]


@STREAM.family("seconds", "first entry")
def stream_first_entry_timestamp_seconds(shown: Shown) -> Values:
    """Time in the ID of the first entry."""
    return of_ids([one.first_id for one in shown.streams], shown.now)


@STREAM.family("seconds", "last-generated-id")
def stream_last_generated_timestamp_seconds(shown: Shown) -> Values:
    """Time in the highest ID that the stream ever had."""
    return of_ids([one.last_generated_id for one in shown.streams], shown.now)


@STREAM.family("seconds", "max-deleted-entry-id", since="7.0")
def stream_max_deleted_timestamp_seconds(shown: Shown) -> Values:
    """Time in the highest ID that was ever deleted from the stream."""
    return of_ids([one.max_deleted_id for one in shown.streams], shown.now)


@STREAM.family("groups", "XINFO GROUPS")
def stream_groups(shown: Shown) -> Values:
    """Consumer groups of the stream."""
    return [len(one.groups) for one in shown.streams]


@STREAM.family("entries", "maxlen of the first policy that names the stream", cost="none")
def stream_max_length(shown: Shown) -> Values:
    """Entries that the retention policy of the configuration keeps of the stream."""
    return [shown.reading.extras.max_lengths.get(one.name) for one in shown.streams]


@STREAM.family(
    "bytes",
    "MEMORY USAGE with the default number of samples",
    cost="off the scrape, a few streams at a time, at most 5 % of the server's time",
)
def stream_memory_bytes(shown: Shown) -> Values:
    """Memory that the stream takes, as the server estimates it."""
    return [shown.reading.extras.memory.get(one.name) for one in shown.streams]


@FINDING.family("", "the health rules, over the readings of the last minutes")
def finding(shown: Shown) -> Values:
    """What the health rules find, 1 each; about a stream by itself without a group, about the server without either.

    A retry stream does not repeat what was found about its group, and has none while that makes no progress (`stopped`, `no_consumers`, `stalled`).
    """
    return {
        (*labels, one.code.value, SEVERITIES[one.level]): 1
        for labels, found in shown.findings
        for one in found
    }


@GROUP.family("entries", "positions, the server's lag where it can be trusted, bounded counts elsewhere")
def group_lag_entries(shown: Shown) -> Values:
    """Entries not yet delivered to the group, if that is known for certain."""
    return [lag.entries if lag.known else None for lag in [one.lag for one in shown.groups]]


@GROUP.family("", "as the lag")
def group_lag_known(shown: Shown) -> Values:
    """Whether the group's lag is known for certain: 1 or 0."""
    return [int(one.lag.known) for one in shown.groups]


@GROUP.family("entries", "as the lag")
def group_lag_upper_bound_entries(shown: Shown) -> Values:
    """The most entries that may not have been delivered to the group yet."""
    return [one.lag.upper for one in shown.groups]


@GROUP.family(
    "seconds",
    "ID of the first entry after the position, and TIME",
    cost="part of the read of the stream; XRANGE of one entry where entries wait",
)
def group_time_lag_seconds(shown: Shown) -> Values:
    """How long the first entry not yet delivered to the group has waited; 0 where none waits."""
    ages = [one.time_lag.age for one in shown.groups]
    return [None if age is None else age.total_seconds() for age in ages]


@GROUP.family("entries", "XINFO GROUPS")
def group_pending_entries(shown: Shown) -> Values:
    """Entries delivered and not acknowledged."""
    return [one.pending for one in shown.groups]


@GROUP.family("consumers", "XINFO GROUPS")
def group_consumers(shown: Shown) -> Values:
    """Consumers of the group, dead or alive."""
    return [one.consumers for one in shown.groups]


@GROUP.family("consumers", "XINFO CONSUMERS", cost=DETAILS)
def group_active_consumers(shown: Shown) -> Values:
    """Consumers seen within 60 s; absent where idle times do not show: on replicas, and before Redis 7.2 unless entries wait."""
    if shown.on_replica:
        return [None] * len(shown.groups)
    sees_polls = shown.sees_polls
    return [
        _active_of(members, tells=sees_polls or bool(group.lag.lower))
        for group, members in zip(shown.groups, shown.members, strict=True)
    ]


@GROUP.family("seconds", "last-delivered-id")
def group_last_delivered_timestamp_seconds(shown: Shown) -> Values:
    """Time in the ID of the last entry delivered to the group."""
    return of_ids([one.last_delivered_id for one in shown.groups], shown.now)


@GROUP.family("seconds", "XPENDING")
def group_oldest_pending_entry_timestamp_seconds(shown: Shown) -> Values:
    """Time in the smallest ID that is pending."""
    return of_ids([None if one is None else one.id for one in shown.oldest], shown.now)


@GROUP.family("seconds", "XPENDING and TIME")
def group_oldest_pending_delivered_timestamp_seconds(shown: Shown) -> Values:
    """When the pending entry with the smallest ID was last delivered; absent once it was released."""
    now = shown.now
    return [
        None if one is None or one.free else (now - one.idle // MILLISECOND) // TENTH * TENTH
        for one in shown.oldest
    ]


@GROUP.family("deliveries", "XPENDING")
def group_oldest_pending_deliveries(shown: Shown) -> Values:
    """How often the pending entry with the smallest ID was delivered."""
    return [None if one is None else one.delivery_count for one in shown.oldest]


@GROUP.family("entries", "XPENDING, a page at a time, and the first entry", cost="none")
def group_dangling_pending_entries(shown: Shown) -> Values:
    """Pending entries, at the least, that are gone from the stream's beginning."""
    streams = {one.name: one for one in shown.streams}
    return [dangling(streams[one.stream], one.group)[0] if one.group.pending else 0 for one in shown.views]


@GROUP.family("entries", COUNTED)
def group_delivered_entries_total(shown: Shown) -> Values:
    """Entries delivered to the group, again after its position was set back. Of entries that were removed just ahead of the position between two readings, some may be counted too."""
    return [one.delivered for one in shown.group_counts]


@GROUP.family("entries", COUNTED)
def group_acked_entries_total(shown: Shown) -> Values:
    """Entries delivered to the group that are no longer pending: acknowledged, mostly. What group_delivered_entries_total counts by mistake, this counts too."""
    return [one.acked for one in shown.group_counts]


@GROUP.family("entries", COUNTED)
def group_lost_entries_total(shown: Shown) -> Values:
    """Entries proven to have been trimmed away before they were delivered to the group, or again after its position was set back."""
    return [one.lost for one in shown.group_counts]


@GROUP.family(
    "entries",
    "entries-added, length and entries-read of the first reading; as group_lost_entries_total since",
    since="7.0",
    cost="none",
)
def group_lost_upper_bound_entries(shown: Shown) -> Values:
    """The most entries that can have been trimmed away before they were delivered to the group, ever: also before the exporter began to watch."""
    return [one.lost_at_most for one in shown.views]


@GROUP.family("rewinds", COUNTED)
def group_rewinds_total(shown: Shown) -> Values:
    """How often the group's position was found to have moved back."""
    return [one.rewinds for one in shown.group_counts]


@GROUP_STATUS.family("", "the health rules, over the readings of the last minutes")
def group_status(shown: Shown) -> Values:
    """What the health rules find about the group, 1 each: ok, unknown, or codes of findings."""
    return [1] * sum(map(len, shown.statuses))


@GROUP_COUNTER.family("readings", COUNTED)
def group_count_gaps_total(shown: Shown) -> Values:
    """Readings at which it was not known how far a counter of the group moved: delivered, acked or lost."""
    steps = [
        (labels, count.uncounted)
        for labels, count in zip(shown.group_labels, shown.group_counts, strict=True)
        if count.uncounted is not ALL_COUNTED
    ]
    return {
        (*labels, counter): number
        for labels, one in steps
        for counter, number in (("delivered", one.delivered), ("acked", one.acked), ("lost", one.lost))
        if number
    }


@CONSUMER.family("entries", "XINFO CONSUMERS")
def consumer_pending_entries(shown: Shown) -> Values:
    """Entries delivered to the consumer and not acknowledged."""
    return shown.consumers.pending


@CONSUMER.family("seconds", "XINFO CONSUMERS and TIME")
def consumer_last_seen_timestamp_seconds(shown: Shown) -> Values:
    """When the consumer last asked for entries; before Redis 7.2, when it last got one. Absent on replicas."""
    return _by_idle_time(shown, shown.consumers.seen)


@CONSUMER.family("seconds", "XINFO CONSUMERS and TIME", since="7.2")
def consumer_last_active_timestamp_seconds(shown: Shown) -> Values:
    """When the consumer last got an entry, from Redis 7.2 on."""
    return _by_idle_time(shown, shown.consumers.active)


@CONSUMER.family("seconds", "XINFO STREAM FULL and TIME")
def consumer_oldest_pending_delivered_timestamp_seconds(shown: Shown) -> Values:
    """When the consumer's pending entry with the smallest ID was last delivered."""
    return of_consumers(shown, shown.consumers.delivered)


@DEAD_LETTERS.family("entries", "XLEN")
def dlq_entries(shown: Shown) -> Values:
    """Entries in the dead-letter queue."""
    return [shown.streams[at].length for at in shown.dead_letters]


@DEAD_LETTERS.family("entries", "as stream_entries_added_total")
def dlq_entries_added_total(shown: Shown) -> Values:
    """Entries ever added to the dead-letter queue, as far as the server and this exporter saw it."""
    return [shown.stream_counts[at].added for at in shown.dead_letters]


@DEAD_LETTERS.family("seconds", "first entry")
def dlq_oldest_timestamp_seconds(shown: Shown) -> Values:
    """Time in the ID of the oldest entry of the dead-letter queue."""
    return of_ids([shown.streams[at].first_id for at in shown.dead_letters], shown.now)
