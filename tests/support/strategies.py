"""Hypothesis strategies for the nouns: whatever a server, however odd, might make this program hold.

Each is a function, so that a test can narrow what it draws: ``groups(lag=lags(known=True))``. The values are
valid but not consistent with each other; a test that needs a world in which they are builds that world.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import cache

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from streamops.model.entries import LAST_ID, MAX_PART, ZERO_ID, EntryId, PendingEntry, StreamEntry
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS, PendingProfile
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
from tests.support.invented import NOW

GREATEST = 2**63 - 1
"""The greatest integer a reply can hold."""

FEWER_EXAMPLES = settings(max_examples=settings().max_examples // 3)
"""A third of the examples: for tests whose every example is hundreds of draws, which take longer than their checks."""

POLICIES = (
    "",
    "noeviction",
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl",
)


@cache
def counts() -> SearchStrategy[int]:
    """Counts as servers give them, mostly small."""
    return st.one_of(st.integers(0, 2_000), st.integers(0, GREATEST))


@cache
def names() -> SearchStrategy[str]:
    """Names of keys, groups and consumers: any bytes, decoded as ``wire`` decodes them."""
    odd = st.binary(max_size=12).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
    return st.one_of(st.sampled_from(["orders", "billing", "worker-1", "-x", "a b", "\x1b[31m"]), odd)


@cache
def entry_ids() -> SearchStrategy[EntryId]:
    """IDs the server made lately, IDs that people made up, and the ends of the range."""
    recent = st.builds(
        EntryId,
        st.integers(-100_000, 100_000).map(lambda ms: round(NOW.timestamp() * 1000) + ms),
        st.integers(0, 3),
    )
    invented = st.builds(EntryId, st.integers(0, MAX_PART), st.integers(0, MAX_PART))
    return st.one_of(recent, invented, st.sampled_from([ZERO_ID, LAST_ID]))


@cache
def spans() -> SearchStrategy[timedelta]:
    """Idle times and ages, from none to years."""
    return st.one_of(
        st.timedeltas(timedelta(0), timedelta(hours=1)),
        st.timedeltas(timedelta(0), timedelta(days=10_000)),
    )


@cache
def entries() -> SearchStrategy[StreamEntry]:
    """Entries with any bytes in any number of fields."""
    field = st.tuples(st.binary(max_size=20), st.binary(max_size=100))
    return st.builds(StreamEntry, entry_ids(), st.lists(field, min_size=1, max_size=5).map(tuple))


@st.composite
def lags(draw: st.DrawFn, *, known: bool | None = None) -> Lag:
    """Lags whose count and bounds agree with their basis; ``known`` asks for one sort only."""
    sorts = {
        True: (LagBasis.EXACT, LagBasis.REPORTED),
        False: (LagBasis.UPPER, LagBasis.LOWER, LagBasis.ESTIMATED, LagBasis.UNKNOWN),
        None: tuple(LagBasis),
    }
    basis = draw(st.sampled_from(sorts[known]))
    lower, entries, upper = sorted(draw(st.tuples(counts(), counts(), counts())))
    if basis in sorts[True]:
        return Lag(entries, entries, entries, basis, "drawn")
    if basis is LagBasis.ESTIMATED:
        return Lag(entries, lower, upper, basis, "drawn")
    bounds = draw(st.sampled_from([(lower, upper), (0, upper), (None, None)]))
    return Lag(None, *bounds, basis, "drawn")


@cache
def time_lags() -> SearchStrategy[TimeLag]:
    """Time lags, known or not."""
    return st.one_of(spans().map(TimeLag), st.just(TimeLag(None, "unavailable")))


@cache
def pending_entries() -> SearchStrategy[PendingEntry]:
    """Rows of a pending entries list; one given back has no consumer."""
    return st.builds(PendingEntry, entry_ids(), st.one_of(names(), st.just("")), spans(), counts())


@cache
def profiles() -> SearchStrategy[PendingProfile]:
    """Distributions of pending entries."""
    return st.builds(
        PendingProfile,
        scanned=counts(),
        coverage=st.floats(0, 1),
        idle_buckets=st.tuples(*[counts()] * (len(IDLE_BOUNDS) + 1)),
        delivery_buckets=st.tuples(*[counts()] * (len(DELIVERY_BOUNDS) + 1)),
        longest_idle=st.none() | pending_entries(),
        most_delivered=st.none() | pending_entries(),
    )


@cache
def consumers() -> SearchStrategy[Consumer]:
    """Consumers, as old and as new servers show them."""
    return st.builds(Consumer, names(), counts(), spans(), st.none() | spans())


def groups(
    *,
    name: SearchStrategy[str] | None = None,
    members: SearchStrategy[Consumer] | None = None,
    profile: SearchStrategy[PendingProfile] | None = None,
) -> SearchStrategy[ConsumerGroup]:
    """Consumer groups."""
    return st.builds(
        ConsumerGroup,
        name=names() if name is None else name,
        consumers=counts(),
        pending=counts(),
        last_delivered_id=entry_ids(),
        entries_read=st.none() | counts(),
        reported_lag=st.none() | st.integers(-GREATEST, GREATEST),
        lag=lags(),
        time_lag=time_lags(),
        oldest_pending=st.none() | pending_entries(),
        oldest_pending_age=st.none() | spans(),
        members=st.none() | st.lists(consumers() if members is None else members, max_size=3).map(tuple),
        profile=st.none() | (profiles() if profile is None else profile),
    )


def streams(
    *, name: SearchStrategy[str] | None = None, group: SearchStrategy[ConsumerGroup] | None = None
) -> SearchStrategy[StreamState]:
    """Streams with up to two groups of different names."""
    return st.builds(
        StreamState,
        name=names() if name is None else name,
        length=counts(),
        first_id=st.none() | entry_ids(),
        last_id=st.none() | entry_ids(),
        last_generated_id=st.none() | entry_ids(),
        entries_added=st.none() | counts(),
        max_deleted_id=st.none() | entry_ids(),
        entry_bytes=st.none() | counts(),
        role=st.sampled_from(StreamRole),
        source=st.none() | names(),
        groups=st.lists(
            groups() if group is None else group, max_size=2, unique_by=lambda group: group.name
        ).map(tuple),
    )


@cache
def nodes() -> SearchStrategy[ServerNode]:
    """Server processes of every version, with INFO or without."""
    return st.builds(
        ServerNode,
        address=names(),
        flavour=st.sampled_from(Flavour),
        version=st.sampled_from([(6, 2, 14), (7, 0, 15), (7, 2, 4), (8, 0, 2), (9, 1, 2)]),
        role=st.sampled_from(["master", "slave"]),
        replication_ids=st.just(("0" * 40,)),
        used_memory=st.none() | counts(),
        max_memory=st.none() | counts(),
        maxmemory_policy=st.sampled_from(POLICIES),
        evicted_keys=st.none() | counts(),
    )


@cache
def servers() -> SearchStrategy[ServerInfo]:
    """Servers of up to three nodes, or of none where no node said anything."""
    return st.builds(
        ServerInfo,
        mode=st.sampled_from(Mode),
        database=st.integers(0, 15),
        nodes=st.lists(nodes(), max_size=3).map(tuple),
    )


@cache
def gaps() -> SearchStrategy[ReadError]:
    """Gaps of a server, a stream or a group."""
    return st.builds(
        ReadError,
        reason=st.sampled_from(["NOPERM", "timed out", "WRONGTYPE"]),
        stream=st.none() | names(),
        group=st.none() | names(),
        part=st.sampled_from(["", "consumers"]),
    )


def snapshots(
    *,
    stream: SearchStrategy[StreamState] | None = None,
    server: SearchStrategy[ServerInfo] | None = None,
    collected_after: SearchStrategy[timedelta] | None = None,
) -> SearchStrategy[Snapshot]:
    """Snapshots of up to two streams of different names, ``collected_after`` ``NOW``."""
    return st.builds(
        Snapshot,
        collected_at=(spans() if collected_after is None else collected_after).map(lambda after: NOW + after),
        server=servers() if server is None else server,
        streams=st.lists(
            streams() if stream is None else stream, max_size=2, unique_by=lambda stream: stream.name
        ).map(tuple),
        gaps=st.lists(gaps(), max_size=2).map(tuple),
        discovered=counts(),
        discovery_complete=st.booleans(),
        elapsed=spans(),
        commands=counts(),
    )


@st.composite
def polls(draw: st.DrawFn, *, most: int = 3) -> Sequence[Snapshot]:
    """Snapshots of one server one after the other, of few names, so that each finds a past: a server gone mad."""
    server = draw(servers())
    group = groups(
        name=st.sampled_from(["billing", "audit"]),
        members=st.sampled_from([draw(consumers()), draw(consumers())]),
        profile=st.just(draw(profiles())),
    )
    stream = streams(name=st.just("orders"), group=group)
    offsets = draw(st.lists(st.timedeltas(timedelta(0), timedelta(hours=1)), min_size=1, max_size=most))
    return [
        draw(snapshots(stream=stream, server=st.just(server), collected_after=st.just(offset)))
        for offset in sorted(offsets)
    ]
