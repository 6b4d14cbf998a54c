"""One stream inspected for an operation: with its groups, which stream it is, the server's version, counts, and its newest entries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct

from streamops.errors import NotFound
from streamops.model.acting import StreamIdentity
from streamops.model.entries import LAST_ID, ZERO_ID, Amount, EntryId, StreamEntry
from streamops.model.streams import GroupReading, ServerInfo, StreamReading
from streamops.model.wording import command
from streamops.monitor.counting import CountBudget, Counter
from streamops.monitor.lag import RangeCount, lag_of_reading, reliability_of
from streamops.wire.faults import Fault, FaultKind, required
from streamops.wire.reads import read_page
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth, Readings, StreamReader


async def read_stream(server: Server, stream: str) -> tuple[StreamReading, StreamIdentity]:
    """One stream with its groups, and its identity.

    Raises:
        NotFound: There is no such stream.
        ServerError: It could not be read.
    """
    readings = await StreamReader(server).read([stream])
    reading = required(readings.streams[0], f"stream {stream}")
    return reading, identity_of(readings, reading)


def identity_of(readings: Readings, reading: StreamReading) -> StreamIdentity:
    """Which stream a reading is of."""
    return StreamIdentity(
        tuple(ident for node in readings.server.nodes for ident in node.replication_ids),
        reading.last_generated_id,
        tuple((group.name, group.last_delivered_id) for group in reading.groups),
    )


def group_of(reading: StreamReading, name: str) -> GroupReading:
    """A stream's group by name; raises ``NotFound`` if there is none."""
    for group in reading.groups:
        if group.name == name:
            return group
    names = ", ".join(group.name for group in reading.groups)
    create = command("groups create", reading.name, name)
    raise NotFound(
        f"stream {reading.name} has no group {name}",
        f"Its groups: {names}." if names else f"It has no groups; `{create}` creates one.",
    )


COUNTED: Final = 1_000_000
"""Entries that are counted at most; what is more has bounds."""

_BUDGET: Final = CountBudget(
    per_range=COUNTED, per_collection=COUNTED, bytes_per_collection=256 << 20, rounds=10 * COUNTED // 1_000
)


class StreamInspection(Struct, frozen=True):
    """One stream, looked at.

    Attributes:
        reading: The stream with its groups.
        identity: Which stream it is.
        server: Who answered.
        now: The server's clock; None if it may not be asked.
        depth: How it could be read.
    """

    reading: StreamReading
    identity: StreamIdentity
    server: ServerInfo
    now: datetime | None
    depth: Depth

    def others(self, group: str) -> tuple[str, ...]:
        """The other groups of the stream."""
        return tuple(one.name for one in self.reading.groups if one.name != group)


async def inspect_stream(server: Server, stream: str) -> StreamInspection:
    """Look at a stream; raises ``NotFound`` if there is none, ``ServerError`` if it cannot be read."""
    (look,) = await find_streams(server, [stream])
    return required(look, f"stream {stream}")


async def find_stream(server: Server, stream: str) -> StreamInspection | None:
    """Look at a stream, if there is one; raises ``ServerError`` if it cannot be read."""
    (look,) = await find_streams(server, [stream])
    if isinstance(look, Fault) and look.kind is FaultKind.MISSING:
        return None
    return required(look, f"stream {stream}")


async def find_streams(server: Server, streams: Sequence[str]) -> list[StreamInspection | Fault]:
    """Look at streams in a constant number of round trips; raises ``ServerError`` if no node answers."""
    reader = StreamReader(server)
    readings = await reader.read(streams)
    return [
        reading
        if isinstance(reading, Fault)
        else StreamInspection(
            reading, identity_of(readings, reading), readings.server, readings.now, reader.depth
        )
        for reading in readings.streams
    ]


async def count_between(server: Server, look: StreamInspection, after: EntryId, until: EntryId) -> Amount:
    """How many entries come after one ID and not after another, counted as far as is reasonable."""
    stream = look.reading
    first, last = stream.first_id, stream.last_id
    if not stream.length or after >= until or (last and after >= last) or (first and until < first):
        return Amount(0, 0)
    if first and last and after < first and until >= last:
        return Amount(stream.length, stream.length)
    span = RangeCount(stream.name, after, until, stream.entry_bytes or 0)
    await Counter(server, _BUDGET).count([span], look.depth)
    return Amount(span.counted, span.counted if span.complete else stream.length)


async def count_undone(server: Server, groups: Sequence[tuple[str, str]]) -> list[int | None]:
    """Entries that groups, each with its stream, have not acknowledged; None if that is not known.

    Those are all of a stream if there is no such group yet. Raises ``ServerError`` if no node answers.
    """
    looks = await find_streams(server, [stream for stream, _ in groups])
    return [await _undone(server, look, group) for look, (_, group) in zip(looks, groups, strict=True)]


async def _undone(server: Server, look: StreamInspection | Fault, group: str) -> int | None:
    if isinstance(look, Fault):
        return 0 if look.kind is FaultKind.MISSING else None
    found = next((one for one in look.reading.groups if one.name == group), None)
    if found is None:
        return look.reading.length
    unread = await count_unread(server, look, found)
    return unread.upper + found.pending if unread.exact else None


async def count_unread(server: Server, look: StreamInspection, group: GroupReading) -> Amount:
    """What a group was not given yet, counted where the reading leaves it open."""
    told = lag_of(look, group)
    return told if told.exact else await count_between(server, look, group.last_delivered_id, LAST_ID)


async def entries_read_at(
    server: Server, look: StreamInspection, position: EntryId, ahead: Amount | None = None
) -> int | None:
    """What the server's counter ENTRIESREAD has to be at a position so that it reports the right lag there.

    That is the entries ever added less those that are ahead. With 0 given for a group at the beginning of a
    stream that was trimmed, the lag would be too high by what was trimmed [ran 7.0, Valkey 8.1 and 9.1].

    Args:
        server: The server.
        look: The stream.
        position: The position.
        ahead: Entries after it, if they were counted already.

    Returns:
        The counter; None if the server has none (Redis 6.2), where entries ahead were deleted (then it
        makes nothing of it), or where they could not be counted, or were being removed meanwhile.
    """
    stream = look.reading
    if stream.entries_added is None or stream.last_generated_id is None:
        return None
    if stream.max_deleted_id is not None and stream.max_deleted_id > max(
        position, stream.first_id or position
    ):
        return None
    if ahead is None:
        ahead = await count_between(server, look, position, stream.last_generated_id)
    if not ahead.exact:
        return None
    again = await find_stream(server, stream.name)
    if again is None or again.reading.entries_added is None:
        return None
    removed = stream.entries_added - stream.length
    if again.reading.entries_added - again.reading.length != removed:
        return None
    return max(0, stream.entries_added - ahead.upper)


def lag_of(look: StreamInspection, group: GroupReading) -> Amount:
    """What a group was not given yet, as far as one reading shows."""
    lag = lag_of_reading(look.reading, group, reliability_of(look.server.nodes))
    if lag.entries is not None:
        return Amount(lag.entries, lag.entries)
    return Amount(lag.lower or 0, look.reading.length if lag.upper is None else lag.upper)


FIRST: Final = 4
MOST_BYTES: Final = 4 << 20
"""Entries that are read first, and bytes that are read in all unless another bound is given; one page may go beyond."""


class Newest(NamedTuple):
    """Entries, the newest first.

    Attributes:
        entries: The entries.
        more: Whether there may be others before them.
    """

    entries: tuple[StreamEntry, ...]
    more: bool


async def read_newest(
    server: Server,
    stream: str,
    count: int,
    *,
    first: EntryId = ZERO_ID,
    last: EntryId = LAST_ID,
    most_bytes: int | None = None,
    what: str = "",
) -> Newest:
    """Entries between two IDs, both inclusive, the newest first; fewer than ``count`` where they are large.

    Raises:
        ServerError: They cannot be read; said of ``what``, or of the stream.
    """
    room = MOST_BYTES if most_bytes is None else most_bytes
    entries: list[StreamEntry] = []
    weight, size = 0, min(count, FIRST)
    while True:
        page = await read_page(server, stream, first, last, size, newest_first=True, what=what)
        entries += page
        weight += sum(entry.size for entry in page)
        if len(page) < size or page[-1].id <= first:
            return Newest(tuple(entries), more=False)
        if len(entries) >= count or weight >= room:
            return Newest(tuple(entries), more=True)
        last = page[-1].id.previous()
        # The entries seen show how many more fit into what is left.
        size = max(1, min(count - len(entries), (room - weight) * len(entries) // max(1, weight)))
