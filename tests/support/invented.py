"""Nouns invented for tests: each plausible and healthy until a test says otherwise."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from streamops.model.entries import ZERO_ID, EntryId, PendingEntry
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.pending import PendingProfile
from streamops.model.streams import (
    Consumer,
    ConsumerGroup,
    Flavour,
    Mode,
    ReadError,
    ServerInfo,
    ServerNode,
    Snapshot,
    StreamRole,
    StreamState,
)

NOW = datetime(2026, 3, 14, 12, 0, 0, tzinfo=UTC)
POLL = timedelta(seconds=2)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def entry_id(age: timedelta = timedelta(0), seq: int = 0) -> EntryId:
    """The ID the server would have made that long before ``NOW``."""
    return EntryId(round((NOW - age).timestamp() * 1000), seq)


def exact(entries: int) -> Lag:
    return Lag(entries, entries, entries, LagBasis.EXACT, "counted")


def bounded(lower: int | None, upper: int | None) -> Lag:
    """A lag of which only bounds are known."""
    return Lag(None, lower, upper, LagBasis.UNKNOWN, "the server reports no lag")


def pending_entry(
    age: timedelta = timedelta(0),
    *,
    consumer: str = "worker-1",
    idle: timedelta = timedelta(seconds=1),
    deliveries: int = 1,
) -> PendingEntry:
    return PendingEntry(entry_id(age), consumer, idle, deliveries)


def profile(
    *, longest_idle: PendingEntry | None = None, most_delivered: PendingEntry | None = None
) -> PendingProfile:
    return PendingProfile(
        scanned=1,
        coverage=1.0,
        idle_buckets=(1, 0, 0, 0, 0, 0),
        delivery_buckets=(1, 0, 0, 0, 0),
        longest_idle=longest_idle,
        most_delivered=most_delivered,
    )


def consumer(
    name: str = "worker-1",
    *,
    pending: int = 0,
    idle: timedelta = timedelta(seconds=1),
    inactive: timedelta | None = timedelta(seconds=1),
) -> Consumer:
    return Consumer(name, pending, idle, inactive)


def group(
    name: str = "billing",
    *,
    lag: Lag | int = 0,
    waiting: timedelta | None = timedelta(0),
    pending: int = 0,
    position: EntryId | None = None,
    entries_read: int | None = None,
    oldest: PendingEntry | None = None,
    oldest_age: timedelta | None = None,
    members: Sequence[Consumer] | None = (consumer(),),
    consumers: int | None = None,
    profile: PendingProfile | None = None,
) -> ConsumerGroup:
    """A group; ``waiting`` is its time lag, none where the IDs tell no time."""
    settled = exact(lag) if isinstance(lag, int) else lag
    return ConsumerGroup(
        name=name,
        consumers=len(members or ()) if consumers is None else consumers,
        pending=pending,
        last_delivered_id=entry_id() if position is None else position,
        entries_read=entries_read,
        reported_lag=settled.entries,
        lag=settled,
        time_lag=TimeLag(waiting, "" if waiting is not None else "unavailable"),
        oldest_pending=oldest,
        oldest_pending_age=oldest_age,
        members=None if members is None else tuple(members),
        profile=profile,
    )


def stream(
    name: str = "orders",
    groups: Iterable[ConsumerGroup] = (),
    *,
    length: int = 100,
    first_id: EntryId | None = None,
    last_generated_id: EntryId | None = None,
    entries_added: int | None = 100,
    max_deleted_id: EntryId | None = ZERO_ID,
    role: StreamRole = StreamRole.EVENTS,
    source: str | None = None,
) -> StreamState:
    """A stream of entries an hour old to new; one without entries where ``length`` is zero."""
    last = entry_id() if last_generated_id is None else last_generated_id
    return StreamState(
        name=name,
        length=length,
        first_id=(entry_id(timedelta(hours=1)) if first_id is None else first_id) if length else None,
        last_id=last if length else None,
        last_generated_id=last,
        entries_added=entries_added,
        max_deleted_id=max_deleted_id,
        entry_bytes=100,
        role=role,
        source=source,
        groups=tuple(groups),
    )


def node(
    *,
    address: str = "127.0.0.1:6379",
    version: tuple[int, int, int] = (8, 0, 0),
    role: str = "master",
    used_memory: int | None = 2**20,
    max_memory: int | None = 0,
    policy: str = "noeviction",
    evicted_keys: int | None = 0,
) -> ServerNode:
    return ServerNode(
        address=address,
        flavour=Flavour.REDIS,
        version=version,
        role=role,
        replication_ids=("0" * 40,),
        used_memory=used_memory,
        max_memory=max_memory,
        maxmemory_policy=policy,
        evicted_keys=evicted_keys,
    )


def snapshot(
    *streams: StreamState,
    at: timedelta = timedelta(0),
    gaps: Iterable[ReadError] = (),
    nodes: Sequence[ServerNode] = (node(),),
) -> Snapshot:
    """A snapshot taken ``at`` after ``NOW``."""
    return Snapshot(
        collected_at=NOW + at,
        server=ServerInfo(Mode.STANDALONE, 0, tuple(nodes)),
        streams=streams,
        gaps=tuple(gaps),
        discovered=len(streams),
        discovery_complete=True,
        elapsed=timedelta(milliseconds=5),
        commands=len(streams),
    )


def at(number: int) -> EntryId:
    return EntryId(number, 0)
