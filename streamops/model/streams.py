"""Streams, their consumer groups and consumers, as one reading found them."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.model.lag import Lag, TimeLag
from streamops.model.pending import PendingProfile


class StreamRole(StrEnum):
    """What a stream is for, judged by its name and the configuration."""

    EVENTS = "events"
    DEAD_LETTERS = "dead_letters"
    RETRY = "retry"


class Consumer(Struct, frozen=True, gc=False):
    """One consumer of a group, as XINFO CONSUMERS tells it.

    Attributes:
        name: The consumer's name.
        pending: Entries delivered to it and not acknowledged.
        idle: Before Redis 7.2, time since it was last given or claimed an entry; from 7.2 on, since it
            last asked, in vain or not. XACK moves neither. It grows while a blocking read waits.
        inactive: From Redis 7.2 on, time since it last got an entry; none where it never did or on
            older servers.
        alive: Whether it is one of our workers' and has a heartbeat; none where it is not, or that was not asked.
        oldest_delivered: Time since the last delivery of its pending entry with the smallest ID; none where it has
            none pending, or that was not read.
    """

    name: str
    pending: int
    idle: timedelta
    inactive: timedelta | None
    alive: bool | None = None
    oldest_delivered: timedelta | None = None


class ConsumerGroup(Struct, frozen=True, gc=False):
    """One consumer group, as XINFO GROUPS and XPENDING tell it, with what was made of that.

    Attributes:
        name: The group's name.
        consumers: How many consumers it has.
        pending: Entries delivered and not acknowledged, all consumers together.
        last_delivered_id: The position: everything after it is still to be delivered.
        entries_read: The server's logical read counter; none where it has none.
        reported_lag: The lag field as the server gave it, right or wrong; none where it gave none.
        lag: How many entries are still to be delivered, and what that rests on.
        time_lag: How long the first of those has waited.
        oldest_pending: The pending entry with the smallest ID; none where none is pending.
        oldest_pending_age: Server time minus the time in that ID; none where implausible.
        members: The consumers; none where they were not read.
        profile: The distribution of pending entries, as far as it has been scanned; none where it was not.
    """

    name: str
    consumers: int
    pending: int
    last_delivered_id: EntryId
    entries_read: int | None
    reported_lag: int | None
    lag: Lag
    time_lag: TimeLag
    oldest_pending: PendingEntry | None = None
    oldest_pending_age: timedelta | None = None
    members: Sequence[Consumer] | None = None
    profile: PendingProfile | None = None


class StreamState(Struct, frozen=True, gc=False):
    """One stream and its groups.

    Attributes:
        name: The key.
        length: Entries in it (XLEN).
        first_id: ID of its first entry; none where it is empty or unknown.
        last_id: ID of its last entry; none where it is empty or unknown.
        last_generated_id: The highest ID it ever had; none where unknown.
        entries_added: Entries ever added (from Redis 7.0 on); none where unknown.
        max_deleted_id: The highest ID deleted by XDEL (from Redis 7.0 on); none where unknown.
        entry_bytes: Size of the larger of its first and last entry; none where unknown.
        role: What the stream is for.
        source: For dead letters and retry streams, the stream they came from; none where unknown.
        groups: Its consumer groups, by name.
    """

    name: str
    length: int
    first_id: EntryId | None
    last_id: EntryId | None
    last_generated_id: EntryId | None
    entries_added: int | None
    max_deleted_id: EntryId | None
    entry_bytes: int | None
    role: StreamRole
    source: str | None
    groups: tuple[ConsumerGroup, ...]
