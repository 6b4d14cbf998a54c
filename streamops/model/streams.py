"""Streams with their groups and consumers: as they were read, and all of one collection as a snapshot."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain
from typing import Final, overload

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.delayed import DelayedQueue
from streamops.model.entries import EntryId, PendingEntry
from streamops.model.lag import Lag, TimeLag
from streamops.model.pending import PendingProfile


class Consumer(Struct, frozen=True, gc=False):
    """One consumer of a group, as XINFO CONSUMERS gives it.

    Attributes:
        name: The consumer's name.
        pending: Entries delivered to it and not acknowledged.
        idle: Before Redis 7.2, time since it was last given or claimed an entry; from 7.2 on, since it
            last asked, in vain or not. XACK moves neither. It grows while a blocking read waits.
        inactive: From Redis 7.2 on, time since it last got an entry; None if it never did or on
            older servers.
        alive: Whether it is one of our workers' and has a heartbeat; None if it is not, or that was not asked.
        oldest_delivered: Time since the last delivery of its pending entry with the smallest ID; None if it has
            none pending, or that was not read.
    """

    name: str
    pending: int
    idle: timedelta
    inactive: timedelta | None
    alive: bool | None = None
    oldest_delivered: timedelta | None = None


MILLISECOND: Final = timedelta(milliseconds=1)
NO_TIME: Final = timedelta(0)


class ConsumerColumns(Struct, frozen=True, gc=False):
    """The consumers of a group, column by column; instants are milliseconds since the epoch, as in IDs.

    Attributes:
        names: Their names.
        pending: Entries pending with each.
        seen: When each was last seen, as ``Consumer.idle`` means it.
        active: When each last got an entry; None if it never did, or on older servers.
        delivered: When the pending entry of each with the smallest ID was last delivered; None if none is pending.
    """

    names: tuple[str, ...] = ()
    pending: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()
    active: tuple[int | None, ...] = ()
    delivered: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, consumers: Sequence[Consumer], now: int) -> "ConsumerColumns":
        """Those of consumers that are told with their ages at an instant."""
        if not consumers:
            return NOBODY
        return cls(
            tuple([one.name for one in consumers]),
            tuple([one.pending for one in consumers]),
            tuple([now - one.idle // MILLISECOND for one in consumers]),
            _ago([one.inactive for one in consumers], now),
            _ago([one.oldest_delivered for one in consumers], now),
        )

    @property
    def fed(self) -> Sequence[int]:
        """When each last got an entry, as far as that is known: not before."""
        active = self.active
        if None not in active:
            return active  # type: ignore[return-value]  # mypy does not narrow by ``in``
        if active.count(None) == len(active):
            # On older servers.
            return self.seen
        return [seen if at is None else at for seen, at in zip(self.seen, active, strict=True)]

    @classmethod
    def joined(cls, groups: Sequence["ConsumerColumns"]) -> "ConsumerColumns":
        """Those of several groups, one after the other."""
        return cls(
            tuple(chain.from_iterable([one.names for one in groups])),
            tuple(chain.from_iterable([one.pending for one in groups])),
            tuple(chain.from_iterable([one.seen for one in groups])),
            tuple(chain.from_iterable([one.active for one in groups])),
            tuple(chain.from_iterable([one.delivered for one in groups])),
        )

    def only(self, places: Sequence[int]) -> "ConsumerColumns":
        """Those at some places alone."""
        return ConsumerColumns(
            tuple([self.names[at] for at in places]),
            tuple([self.pending[at] for at in places]),
            tuple([self.seen[at] for at in places]),
            tuple([self.active[at] for at in places]),
            tuple([self.delivered[at] for at in places]),
        )


NOBODY: Final = ConsumerColumns()


class Members(Sequence[Consumer]):
    """The consumers of a group with their ages at one instant, which are worked out on demand.

    Args:
        sightings: When they were seen.
        now: The instant, in milliseconds since the epoch.

    Attributes:
        sightings: When they were seen.
        now: The instant.
    """

    __slots__ = ("_consumers", "now", "sightings")

    def __init__(self, sightings: ConsumerColumns, now: int) -> None:
        self.sightings = sightings
        self.now = now
        self._consumers: tuple[Consumer, ...] | None = None

    def __len__(self) -> int:
        """How many there are."""
        return len(self.sightings.names)

    @overload
    def __getitem__(self, at: int) -> Consumer: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Consumer, ...]: ...
    def __getitem__(self, at: int | slice) -> Consumer | tuple[Consumer, ...]:
        """One of them, or some."""
        return self.consumers[at]

    def __iter__(self) -> Iterator[Consumer]:
        """All of them."""
        return iter(self.consumers)

    def __eq__(self, other: object) -> bool:
        """Whether others are the same consumers with the same ages, however they are kept."""
        if isinstance(other, Sequence) and not isinstance(other, str):
            return self.consumers == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        """That of the tuple of them."""
        return hash(self.consumers)

    def __repr__(self) -> str:
        """As the tuple of them."""
        return repr(self.consumers)

    @property
    def consumers(self) -> tuple[Consumer, ...]:
        """The consumers."""
        if self._consumers is None:
            self._consumers = tuple(self._made())
        return self._consumers

    @classmethod
    def of(cls, consumers: Sequence[Consumer], now: int) -> "Members":
        """The same of consumers that are told with their ages at that instant."""
        return consumers if isinstance(consumers, Members) else cls(ConsumerColumns.of(consumers, now), now)

    def idle_within(self, milliseconds: float) -> bool:
        """Whether each of them was seen within so long."""
        seen = self.sightings.seen
        return not seen or self.now - min(seen) < milliseconds

    @property
    def fed_ago(self) -> timedelta | None:
        """How long, at the least, none of them has got an entry; none if there is no consumer."""
        fed = self.sightings.fed
        return since(max(fed), self.now) if fed else None

    @property
    def holders_seen_ago(self) -> timedelta | None:
        """Time since one of those that hold pending entries was last seen; none if no consumer holds any."""
        told = self.sightings
        held = [seen for seen, pending in zip(told.seen, told.pending, strict=True) if pending]
        return since(max(held), self.now) if held else None

    def _made(self) -> Iterator[Consumer]:
        told, now = self.sightings, self.now
        columns = zip(told.names, told.pending, told.seen, told.active, told.delivered, strict=True)
        for name, pending, seen, active, delivered in columns:
            yield Consumer(
                name,
                pending,
                since(seen, now),
                None if active is None else since(active, now),
                None,
                None if delivered is None else since(delivered, now),
            )


def names_of(consumers: Sequence[Consumer]) -> Sequence[str]:
    """The names of consumers."""
    return consumers.sightings.names if isinstance(consumers, Members) else [one.name for one in consumers]


def _ago(spans: Sequence[timedelta | None], now: int) -> tuple[int | None, ...]:
    return tuple([None if span is None else now - span // MILLISECOND for span in spans])


def since(then: int, now: int) -> timedelta:
    """How long ago an instant was; never negative, as it would be where the server's clock was set back."""
    return (now - then) * MILLISECOND if then < now else NO_TIME


class StreamRole(StrEnum):
    """What a stream is for, judged by its name and the configuration."""

    EVENTS = "events"
    DEAD_LETTERS = "dead_letters"
    RETRY = "retry"


class ConsumerGroup(Struct, frozen=True, gc=False):
    """One consumer group, as XINFO GROUPS and XPENDING gives it, with what was made of that.

    Attributes:
        name: The group's name.
        consumers: How many consumers it has.
        pending: Entries delivered and not acknowledged, all consumers together.
        last_delivered_id: The position: everything after it is still to be delivered.
        entries_read: The server's logical read counter; None if it has none.
        reported_lag: The lag field as the server gave it, right or wrong; None if it gave none.
        lag: How many entries are not yet delivered, and what that rests on.
        time_lag: How long the first of those has waited.
        oldest_pending: The pending entry with the smallest ID; None if none is pending.
        oldest_pending_age: Server time minus the time in that ID; None if implausible.
        members: The consumers; None if they were not read.
        profile: The distribution of pending entries, as far as it has been scanned; None if it was not.
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
        first_id: ID of its first entry; None if it is empty or unknown.
        last_id: ID of its last entry; None if it is empty or unknown.
        last_generated_id: The highest ID it ever had; None if unknown.
        entries_added: Entries ever added (from Redis 7.0 on); None if unknown.
        max_deleted_id: The highest ID deleted by XDEL (from Redis 7.0 on); None if unknown.
        entry_bytes: Size of the larger of its first and last entry; None if unknown.
        role: What the stream is for.
        source: For dead letters and retry streams, the stream they came from; None if unknown.
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


class GroupReading(Struct, frozen=True, gc=False):
    """One group in one reading; its fields mean what they mean in ``ConsumerGroup``.

    Attributes:
        name: The group's name.
        consumers: How many consumers it has.
        pending: Entries delivered and not acknowledged.
        last_delivered_id: Its position.
        entries_read: The server's logical read counter; None if it has none.
        reported_lag: The server's lag; None if it gave none.
        oldest_pending: The pending entry with the smallest ID; None if none is pending or it was not read.
        next_id: The first entry after the position; None if there is none or it was not read.
        next_read: Whether ``next_id`` was read at all.
        members: Its consumers; None if they were not read together with it.
    """

    name: str
    consumers: int
    pending: int
    last_delivered_id: EntryId
    entries_read: int | None
    reported_lag: int | None
    oldest_pending: PendingEntry | None = None
    next_id: EntryId | None = None
    next_read: bool = False
    members: Members | None = None


class StreamReading(Struct, frozen=True, gc=False):
    """One stream and its groups, read at one instant.

    Attributes:
        name: The key.
        length: Entries in it.
        groups: Its groups, by name.
        bounds_read: Whether the fields below were read; without them only the length is known.
        first_id: ID of its first entry; None if it is empty.
        last_id: ID of its last entry; None if it is empty, or only the first entry was read.
        last_generated_id: The highest ID it ever had.
        entries_added: Entries ever added; none before Redis 7.0.
        max_deleted_id: The highest ID deleted by XDEL; none before Redis 7.0.
        entry_bytes: Size of the larger of its first and last entry.
    """

    name: str
    length: int
    groups: tuple[GroupReading, ...]
    bounds_read: bool = False
    first_id: EntryId | None = None
    last_id: EntryId | None = None
    last_generated_id: EntryId | None = None
    entries_added: int | None = None
    max_deleted_id: EntryId | None = None
    entry_bytes: int | None = None

    @property
    def end_id(self) -> EntryId | None:
        """No entry has a higher ID: the last one's, else the highest there ever was; None if neither was read."""
        return self.last_generated_id if self.last_id is None else self.last_id

    @property
    def without_groups(self) -> "StreamReading":
        """The reading without its groups: a small thing to keep."""
        return replace(self, groups=())


SEES_POLLS = (7, 2, 0)
"""From this version on, of Redis and of Valkey, a consumer that asks for entries in vain counts as active."""


class Flavour(StrEnum):
    """Which program answers."""

    REDIS = "redis"
    VALKEY = "valkey"


class Mode(StrEnum):
    """How the servers are arranged."""

    STANDALONE = "standalone"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


class ServerNode(Struct, frozen=True, gc=False):
    """One server process.

    Attributes:
        address: ``host:port`` or the path of its socket.
        flavour: Redis or Valkey.
        version: Its version, as its own flavour counts it.
        role: ``master`` or ``slave``, the server's words.
        replication_ids: Its replication IDs, main and second: what it is, whatever its address.
        used_memory: Bytes; None if INFO is not permitted.
        max_memory: Bytes, zero for no limit; None if INFO is not permitted.
        maxmemory_policy: The eviction policy; empty if unknown.
        evicted_keys: Keys evicted since it started; None if unknown.
        keys: Keys in the database in use, of whatever type; None if INFO is not permitted.
    """

    address: str
    flavour: Flavour
    version: tuple[int, int, int]
    role: str
    replication_ids: tuple[str, ...]
    used_memory: int | None
    max_memory: int | None
    maxmemory_policy: str
    evicted_keys: int | None
    keys: int | None = None

    @property
    def is_replica(self) -> bool:
        """Whether it follows another server; it takes no writes, and does not learn of polls."""
        return self.role in {"slave", "replica"}

    @property
    def sees_polls(self) -> bool:
        """Whether a consumer's ``idle`` starts again whenever it asks for entries, and not only when it gets some."""
        return self.version >= SEES_POLLS


class ServerInfo(Struct, frozen=True, gc=False):
    """The server as a whole.

    Attributes:
        mode: Standalone, behind Sentinel, or a cluster.
        database: The database number.
        nodes: The server asked, or every primary of a cluster.
    """

    mode: Mode
    database: int
    nodes: tuple[ServerNode, ...]

    @property
    def is_replica(self) -> bool:
        """Whether one of those who answered follows another server."""
        return any(node.is_replica for node in self.nodes)

    @property
    def sees_polls(self) -> bool:
        """Whether all are known to count a consumer that asks in vain as active."""
        return bool(self.nodes) and all(node.sees_polls for node in self.nodes)

    @property
    def flavour(self) -> Flavour | None:
        """The first node's flavour; None if no node said."""
        return self.nodes[0].flavour if self.nodes else None

    @property
    def keys(self) -> int | None:
        """Keys of all nodes together, of whatever type; None if any of them did not say."""
        counts = [node.keys for node in self.nodes if node.keys is not None]
        return sum(counts) if counts and len(counts) == len(self.nodes) else None

    @property
    def version(self) -> str:
        """The lowest version among the nodes; empty if no node said."""
        return ".".join(map(str, min(node.version for node in self.nodes))) if self.nodes else ""


NO_SUCH_STREAM = "no such stream"
"""Reason of the gap where a stream that was asked for by name is not there."""


class ReadError(Struct, frozen=True, gc=False):
    """A part that could not be read.

    Attributes:
        reason: Why, in words.
        stream: The stream it concerns; none for a whole node or server.
        group: The group it concerns; none for a whole stream.
        part: What is missing of it, such as ``consumers``; empty for all of it.
        denied: Whether the user may not read it.
        capped: Whether it is left out by a limit of streamops's own.
    """

    reason: str
    stream: str | None = None
    group: str | None = None
    part: str = ""
    denied: bool = False
    capped: bool = False

    @property
    def scope(self) -> str:
        """What it concerns, in words: ``stream orders``, ``group orders/billing consumers``."""
        if self.stream is None:
            return self.part or "server"
        where = f"stream {self.stream}" if self.group is None else f"group {self.stream}/{self.group}"
        return f"{where} {self.part}".rstrip()


class Snapshot(Struct, frozen=True, gc=False):
    """What one collection found.

    Attributes:
        collected_at: The server's clock when it was read (the first node's, in a cluster).
        server: The server or servers.
        streams: The streams, by name.
        gaps: What could not be read.
        discovered: How many streams discovery knows; more than ``streams`` where a limit cut the list.
        discovery_complete: Whether the keyspace has been scanned at least once from end to end.
        elapsed: How long the collection took, on this machine's clock.
        commands: Commands it sent.
        patterns: Patterns and names of the streams that are looked for; None if all are.
        delayed: Queues of delayed messages that hold anything.
    """

    collected_at: datetime
    server: ServerInfo
    streams: tuple[StreamState, ...]
    gaps: tuple[ReadError, ...]
    discovered: int
    discovery_complete: bool
    elapsed: timedelta
    commands: int
    patterns: tuple[str, ...] = ()
    delayed: tuple[DelayedQueue, ...] = ()
