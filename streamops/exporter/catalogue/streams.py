"""The families of streams, consumer groups and consumers."""

from typing import Final

from streamops.exporter.catalogue.family import Family, Scope

FULL: Final = "one read of the stream, shared by all its metrics"
DETAILS: Final = "part of the read of the stream; one command a group where that is not cheap"

_STREAM = Scope(("db", "stream"), FULL)
_GROUP = Scope(("db", "stream", "group"), FULL)
_CONSUMER = Scope(("db", "stream", "group", "consumer"), DETAILS)
_DLQ = Scope(("db", "stream", "source"), FULL)

COUNTED: Final = "positive differences between readings, since the exporter first saw the group"

STREAMS: Final[tuple[Family, ...]] = (
    _STREAM.gauge("stream_length", "entries", "Entries in the stream.", "XLEN"),
    _STREAM.counter(
        "stream_entries_added_total",
        "entries",
        "Entries ever added to the stream, as far as the server and this exporter saw it; goes on where a stream is made anew.",
        "entries-added; Redis 6.2 does not count: there what must have been added, by length and first entry",
    ),
    _STREAM.counter(
        "stream_removed_entries_total",
        "entries",
        "Entries trimmed or deleted from the stream since the exporter first saw it.",
        "differences of entries-added less differences of the length",
    ),
    _STREAM.gauge(
        "stream_first_entry_timestamp_seconds", "seconds", "Time in the ID of the first entry.", "first entry"
    ),
    _STREAM.gauge(
        "stream_last_generated_timestamp_seconds",
        "seconds",
        "Time in the highest ID that the stream ever had.",
        "last-generated-id",
    ),
    _STREAM.gauge(
        "stream_max_deleted_timestamp_seconds",
        "seconds",
        "Time in the highest ID that was ever deleted from the stream.",
        "max-deleted-entry-id",
    ),
    _STREAM.gauge("stream_groups", "groups", "Consumer groups of the stream.", "XINFO GROUPS"),
    _STREAM.gauge(
        "stream_max_length",
        "entries",
        "Entries that the retention policy of the configuration keeps of the stream.",
        "maxlen of the first policy that names the stream",
        cost="none",
    ),
    _STREAM.gauge(
        "stream_memory_bytes",
        "bytes",
        "Memory that the stream takes, as the server estimates it.",
        "MEMORY USAGE with the default number of samples",
        cost="off the scrape, a few streams at a time, at most 5 % of the server's time",
    ),
)

DEAD_LETTERS: Final[tuple[Family, ...]] = (
    _DLQ.gauge("dlq_entries", "entries", "Entries in the dead-letter queue.", "XLEN"),
    _DLQ.counter(
        "dlq_entries_added_total",
        "entries",
        "Entries ever added to the dead-letter queue, as far as the server and this exporter saw it.",
        "as stream_entries_added_total",
    ),
    _DLQ.gauge(
        "dlq_oldest_timestamp_seconds",
        "seconds",
        "Time in the ID of the oldest entry of the dead-letter queue.",
        "first entry",
    ),
)

GROUPS: Final[tuple[Family, ...]] = (
    _GROUP.gauge(
        "group_lag_entries",
        "entries",
        "Entries not yet delivered to the group, where that is known for certain.",
        "positions, the server's lag where it can be trusted, bounded counts elsewhere",
    ),
    _GROUP.gauge(
        "group_lag_known", "", "Whether the group's lag is known for certain: 1 or 0.", "as the lag"
    ),
    _GROUP.gauge(
        "group_lag_upper_bound_entries",
        "entries",
        "The most entries that may not have been delivered to the group yet.",
        "as the lag",
    ),
    _GROUP.gauge(
        "group_time_lag_seconds",
        "seconds",
        "How long the first entry not yet delivered to the group has waited; 0 where none waits.",
        "ID of the first entry after the position, and TIME",
        cost="part of the read of the stream; XRANGE of one entry where entries wait",
    ),
    _GROUP.gauge(
        "group_pending_entries", "entries", "Entries delivered and not acknowledged.", "XINFO GROUPS"
    ),
    _GROUP.gauge("group_consumers", "consumers", "Consumers of the group, dead or alive.", "XINFO GROUPS"),
    _GROUP.gauge(
        "group_active_consumers",
        "consumers",
        "Consumers seen within 60 s; absent where idle times do not tell: on replicas, and before Redis 7.2 unless entries wait.",
        "XINFO CONSUMERS",
        cost=DETAILS,
    ),
    _GROUP.gauge(
        "group_last_delivered_timestamp_seconds",
        "seconds",
        "Time in the ID of the last entry delivered to the group.",
        "last-delivered-id",
    ),
    _GROUP.gauge(
        "group_oldest_pending_entry_timestamp_seconds",
        "seconds",
        "Time in the smallest ID that is pending.",
        "XPENDING",
    ),
    _GROUP.gauge(
        "group_oldest_pending_delivered_timestamp_seconds",
        "seconds",
        "When the pending entry with the smallest ID was last delivered; absent once it was given back.",
        "XPENDING and TIME",
    ),
    _GROUP.gauge(
        "group_oldest_pending_deliveries",
        "deliveries",
        "How often the pending entry with the smallest ID was delivered.",
        "XPENDING",
    ),
    _GROUP.gauge(
        "group_dangling_pending_entries",
        "entries",
        "Pending entries, at the least, that are gone from the stream's beginning.",
        "XPENDING, a page at a time, and the first entry",
        cost="none",
    ),
    _GROUP.counter(
        "group_delivered_entries_total",
        "entries",
        "Entries delivered to the group, again where its position was set back; of those removed ahead of it between two "
        "readings in which it moved on, some may be among them.",
        COUNTED,
    ),
    _GROUP.counter(
        "group_acked_entries_total",
        "entries",
        "Entries that the group was done with: delivered and no longer pending; what is taken for delivered by mistake is "
        "among them.",
        COUNTED,
    ),
    _GROUP.counter(
        "group_lost_entries_total",
        "entries",
        "Entries proven to have been trimmed away before they were delivered to the group, or again after its position "
        "was set back.",
        COUNTED,
    ),
    _GROUP.gauge(
        "group_lost_upper_bound_entries",
        "entries",
        "The most entries that can have been trimmed away before they were delivered to the group, before the first "
        "reading and since.",
        "entries-added, length and entries-read of the first reading; as group_lost_entries_total since",
        cost="none",
    ),
    _GROUP.counter(
        "group_rewinds_total",
        "rewinds",
        "How often the group's position was found to have moved back.",
        COUNTED,
    ),
)

GROUP_STATUS: Final = _GROUP.gauge(
    "group_status",
    "",
    "What the health rules find about the group, 1 each: ok, unknown, or codes of findings.",
    "the health rules, over the readings of the last minutes",
    "status",
    cost="none",
)
GROUP_UNCOUNTED: Final = _GROUP.counter(
    "group_uncounted_total",
    "readings",
    "Readings at which it could not be told how far a counter of the group moved: delivered, acked or lost.",
    COUNTED,
    "what",
    cost="none",
)

CONSUMERS: Final[tuple[Family, ...]] = (
    _CONSUMER.gauge(
        "consumer_pending_entries",
        "entries",
        "Entries delivered to the consumer and not acknowledged.",
        "XINFO CONSUMERS",
    ),
    _CONSUMER.gauge(
        "consumer_last_seen_timestamp_seconds",
        "seconds",
        "When the consumer last asked for entries; before Redis 7.2, when it last got one. Absent on replicas.",
        "XINFO CONSUMERS and TIME",
    ),
    _CONSUMER.gauge(
        "consumer_last_active_timestamp_seconds",
        "seconds",
        "When the consumer last got an entry, from Redis 7.2 on.",
        "XINFO CONSUMERS and TIME",
    ),
    _CONSUMER.gauge(
        "consumer_oldest_pending_delivered_timestamp_seconds",
        "seconds",
        "When the consumer's pending entry with the smallest ID was last delivered.",
        "XINFO STREAM FULL and TIME",
    ),
)
