"""Replies become nouns. Pure; RESP2 shapes, as every server from 6.2 on gives them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from typing import Final

from msgspec.structs import replace

from streamops.errors import UnexpectedReply
from streamops.model.entries import EPOCH, EntryId, PendingEntry, StreamEntry
from streamops.model.streams import (
    NOBODY,
    Consumer,
    ConsumerColumns,
    Flavour,
    GroupReading,
    Members,
    ServerNode,
    StreamReading,
)
from streamops.model.text import name_text
from streamops.wire.faults import Fault, fault
from streamops.wire.node import Reply

Row = Sequence[Reply]
"""Names and values in turns."""

Values = tuple[Reply, ...]


class Picker:
    """Picks values by their names out of flat replies of names and values, thousands of which have one layout.

    Only for replies of one server: its replies of one length have one layout.

    Args:
        needed: Names that every server knows, two at least.
        optional: Names that some do not know; their values are then none.
    """

    def __init__(self, needed: Sequence[bytes], optional: Sequence[bytes] = ()) -> None:
        self._needed = needed
        self._optional = optional
        self._gets: dict[int, tuple[Callable[[Row], Values], Sequence[int]]] = {}

    def pick(self, row: Row) -> Values:
        """The values, first those that are needed; raises ``KeyError`` if one of these is missing."""
        get, unknown = self._gets.get(len(row)) or self._learn(row)
        return tuple([values[0] for values in self.columns((row,))]) if unknown else get(row)

    def pick_all(self, rows: Sequence[Row]) -> Iterator[Values]:
        """The same of rows that have the layout of the first of them."""
        if not rows:
            return iter(())
        get, unknown = self._gets.get(len(rows[0])) or self._learn(rows[0])
        return zip(*self.columns(rows), strict=True) if unknown else map(get, rows)

    def columns(self, rows: Sequence[Row]) -> Sequence[Values]:
        """The same of one row or more, column by column."""
        get, unknown = self._gets.get(len(rows[0])) or self._learn(rows[0])
        columns = [*zip(*map(get, rows), strict=True)]
        for place in unknown:
            columns.insert(place, (None,) * len(rows))
        return columns

    def _learn(self, row: Row) -> tuple[Callable[[Row], Values], Sequence[int]]:
        places = {name: 2 * at + 1 for at, name in enumerate(row[::2])}
        wanted = [places[name] for name in self._needed]
        wanted += [places[name] for name in self._optional if name in places]
        unknown = [len(self._needed) + at for at, name in enumerate(self._optional) if name not in places]
        learnt = self._gets[len(row)] = itemgetter(*wanted), unknown
        return learnt


Pairs = dict[bytes, Reply]

MILLISECOND: Final = timedelta(milliseconds=1)
NO_TIME: Final = timedelta(0)


# The same names come again with every reply, and as the same objects they are found in dicts without a comparison.
@lru_cache(maxsize=1 << 14)
def decode_name(raw: bytes) -> str:
    """A name, losslessly: bytes that are not UTF-8 become surrogates."""
    return name_text(raw)


@lru_cache(maxsize=1 << 14)
def decode_names(raw: tuple[bytes, ...]) -> tuple[str, ...]:
    """Names that come together, as those of a group's consumers do."""
    return tuple(map(decode_name, raw))


def decode_time(reply: Sequence[bytes]) -> datetime:
    """TIME's seconds and microseconds."""
    return EPOCH + timedelta(seconds=int(reply[0]), microseconds=int(reply[1]))


def decode_clock(time: Reply, info: Reply) -> datetime | None:
    """The server's clock by TIME, or where that was refused by INFO; None if both were."""
    if not isinstance(time, Exception):
        return decode_time(time)
    if isinstance(info, Exception):
        return None
    found = re.search(rb"^server_time_usec:(\d+)", info, re.MULTILINE)
    return EPOCH + timedelta(microseconds=int(found[1])) if found else None


def decode_reading(name: str, reply: Reply, *, known: StreamReading | None = None) -> StreamReading | Fault:
    """The reply of ``read_stream.lua``; ``known`` is the earlier reading that the script was given."""
    length, stream, groups = reply
    if isinstance(groups, Exception):
        why = fault(groups)
        return replace(why, reason="no permission for XINFO GROUPS") if why.denies_command else why
    heads = {group.last_delivered_id: group.next_id for group in known.groups} if known else {}
    decoded = tuple(_scripted_group(group, heads) for group in groups)
    if isinstance(stream, Exception):
        return StreamReading(name, length, decoded)
    if known is not None and stream == 1:
        return replace(known, groups=decoded)
    first, last, entry_bytes, last_generated, entries_added, max_deleted = stream
    return StreamReading(
        name,
        length,
        decoded,
        bounds_read=True,
        first_id=EntryId.parse(first) if first else None,
        last_id=EntryId.parse(last) if last else None,
        last_generated_id=EntryId.parse(last_generated),
        entries_added=None if entries_added is None else whole(entries_added),
        max_deleted_id=EntryId.parse(max_deleted) if max_deleted else None,
        entry_bytes=entry_bytes,
    )


def decode_info(name: str, length: Reply, stream: Reply, groups: Reply) -> StreamReading | Fault:
    """Replies of XLEN, XINFO STREAM (None if it was not asked) and XINFO GROUPS."""
    for part in (length, groups):
        if isinstance(part, Exception):
            return fault(part)
    decoded = decode_groups(groups)
    if stream is None or isinstance(stream, Exception):
        return StreamReading(name, length, decoded)
    return _stream(name, _pairs(stream), decoded)


def decode_groups(reply: Iterable[Sequence[Reply]]) -> tuple[GroupReading, ...]:
    """XINFO GROUPS."""
    return tuple([_group(_pairs(group)) for group in reply])


class ConsumersDecoder:
    """Decodes one server's replies to XINFO CONSUMERS, which tell ages.

    Args:
        now: When they are read, in milliseconds since the epoch; where instants do not matter, any number.
    """

    def __init__(self, now: int = 0) -> None:
        self._now = now
        self._consumer = Picker((b"name", b"pending", b"idle"), (b"inactive",))

    def decode(self, reply: Sequence[Row]) -> Members:
        """The consumers of one group; raises ``UnexpectedReply`` if a field is missing."""
        return Members(self.sightings(reply), self._now)

    def sightings(self, reply: Sequence[Row]) -> ConsumerColumns:
        """The same by the instants at which they were seen."""
        if not reply:
            return NOBODY
        try:
            names, pending, idle, inactive = self._consumer.columns(reply)
        except KeyError as error:
            raise missing_field("XINFO CONSUMERS", error) from None
        now = self._now
        return ConsumerColumns(
            decode_names(names),
            pending,
            tuple([now - age if age > 0 else now for age in idle]),
            # One that was ahead of the clock, which was set back, is below zero too.
            tuple([None if age is None or age == -1 else now - age if age > 0 else now for age in inactive]),
            (None,) * len(names),
        )


def decode_consumers(reply: Sequence[Row]) -> tuple[Consumer, ...]:
    """XINFO CONSUMERS, of one group alone."""
    return ConsumersDecoder().decode(reply).consumers


def decode_pending_rows(reply: Iterable[Sequence[Reply]]) -> tuple[PendingEntry, ...]:
    """XPENDING with a range. Its IDs are not remembered: of a long list they would drive out those that come again."""
    return tuple(
        [
            PendingEntry(_rare_id(entry_id), decode_name(consumer), _ago(idle_ms), deliveries)
            for entry_id, consumer, idle_ms, deliveries in reply
        ]
    )


def decode_entries(reply: Iterable[Sequence[Reply] | None]) -> tuple[StreamEntry, ...]:
    """XRANGE, XREVRANGE: IDs with their fields in order, repeated names kept."""
    return tuple(
        StreamEntry(EntryId.parse(row[0]), tuple(zip(row[1][::2], row[1][1::2], strict=True)))
        for row in reply
        if row is not None
    )


def decode_server(address: str, reply: bytes, database: int = 0) -> ServerNode:
    """INFO, and of its keyspace one database."""
    info = dict(line.split(":", 1) for line in reply.decode("utf-8", "replace").splitlines() if ":" in line)
    valkey = info.get("server_name") == "valkey" or "valkey_version" in info
    version = info.get("valkey_version" if valkey else "redis_version", "")
    return ServerNode(
        address=address,
        flavour=Flavour.VALKEY if valkey else Flavour.REDIS,
        version=decode_version(version),
        role=info.get("role", ""),
        replication_ids=tuple(info[field] for field in ("master_replid", "master_replid2") if field in info),
        used_memory=_number(info, "used_memory"),
        max_memory=_number(info, "maxmemory"),
        maxmemory_policy=info.get("maxmemory_policy", ""),
        evicted_keys=_number(info, "evicted_keys"),
        keys=_keys(info, database),
    )


def _keys(info: dict[str, str], database: int) -> int | None:
    """A database without keys has no line; None if the keyspace was not told at all."""
    if "master_replid" not in info:
        return None
    told = dict(part.split("=", 1) for part in info.get(f"db{database}", "keys=0").split(",") if "=" in part)
    return _number(told, "keys")


def decode_version(text: str) -> tuple[int, int, int]:
    """``8.0.2`` and the like; parts that are no numbers count as zero."""
    parts = [int(part) if part.isdigit() else 0 for part in text.split(".")[:3]]
    major, minor, patch = parts + [0] * (3 - len(parts))
    return major, minor, patch


def _number(info: dict[str, str], field: str) -> int | None:
    return int(info[field]) if info.get(field, "").isdigit() else None


def _pairs(flat: Sequence[Reply]) -> Pairs:
    parts = iter(flat)
    return dict(zip(parts, parts, strict=True))


def _scripted_group(row: Sequence[Reply], heads: Mapping[EntryId, EntryId | None]) -> GroupReading:
    name, consumers, pending, raw_position, entries_read, lag, oldest, head = row
    position = EntryId.parse(raw_position)
    return GroupReading(
        decode_name(name),
        consumers,
        pending,
        position,
        None if entries_read is None else whole(entries_read),
        None if lag is None else whole(lag),
        None if oldest is None or isinstance(oldest, Exception) else _pending(oldest),
        heads[position] if head == 1 else _head(head),
        not isinstance(head, Exception),
    )


def _group(pairs: Pairs) -> GroupReading:
    try:
        return GroupReading(
            decode_name(pairs[b"name"]),
            pairs[b"consumers"],
            pairs[b"pending"],
            EntryId.parse(pairs[b"last-delivered-id"]),
            pairs.get(b"entries-read"),
            pairs.get(b"lag"),
        )
    except KeyError as error:
        raise missing_field("XINFO GROUPS", error) from None


def _stream(name: str, pairs: Pairs, groups: tuple[GroupReading, ...]) -> StreamReading:
    try:
        first, last, deleted = pairs[b"first-entry"], pairs[b"last-entry"], pairs.get(b"max-deleted-entry-id")
        return StreamReading(
            name,
            pairs[b"length"],
            groups,
            bounds_read=True,
            first_id=EntryId.parse(first[0]) if first else None,
            last_id=EntryId.parse(last[0]) if last else None,
            last_generated_id=EntryId.parse(pairs[b"last-generated-id"]),
            entries_added=pairs.get(b"entries-added"),
            max_deleted_id=EntryId.parse(deleted) if deleted else None,
            entry_bytes=max(_size(entry) for entry in (first, last)),
        )
    except KeyError as error:
        raise missing_field("XINFO STREAM", error) from None


def _size(entry: Sequence[Reply] | None) -> int:
    return sum(map(len, entry[1])) if entry else 0


def _ago(idle_ms: int) -> timedelta:
    """How long ago; never negative, as it is where the server's clock was set back."""
    return idle_ms * MILLISECOND if idle_ms > 0 else NO_TIME


def _head(reply: Reply) -> EntryId | None:
    return None if reply is None or isinstance(reply, Exception) else EntryId.parse(reply)


def _rare_id(raw: bytes) -> EntryId:
    """An ID as the server writes it."""
    ms, _, seq = raw.partition(b"-")
    return EntryId(int(ms), int(seq))


def _pending(row: Sequence[Reply]) -> PendingEntry:
    entry_id, consumer, idle_ms, deliveries = row
    return PendingEntry(EntryId.parse(entry_id), decode_name(consumer), _ago(idle_ms), whole(deliveries))


def missing_field(command: str, error: KeyError) -> UnexpectedReply:
    """The error for a reply without a field that every server's has; ``error`` is of looking for it."""
    return UnexpectedReply(
        f"the server's {command} has no field {error.args[0].decode()!r}",
        "streamops needs Redis 6.2 or later, or Valkey; is this one of them?",
    )


# Numbers and instants of untrusted text: None if it is none, clamped if it is beyond all bounds.

LARGEST: Final = 2**63 - 1
"""The largest number that a server knows."""

MOST_DIGITS: Final = 18
"""Of a number that is taken for one."""

_MILLISECOND: Final = timedelta(milliseconds=1)
_LONGEST_MS: Final = timedelta.max // _MILLISECOND


def number(text: str | bytes | None) -> int | None:
    """A count; None if it is none."""
    plain = text is not None and len(text) <= MOST_DIGITS and text.isascii() and text.isdigit()
    return int(text) if plain and text is not None else None


def instant_of_ms(text: str | bytes | None) -> datetime | None:
    """An instant from its milliseconds; None if they are no plausible ones."""
    try:
        return None if text is None else EPOCH + timedelta(milliseconds=int(text))
    except (ValueError, OverflowError):
        return None


def span(milliseconds: int) -> timedelta:
    """A span of time; the longest there is if it is beyond that."""
    return min(milliseconds, _LONGEST_MS) * _MILLISECOND


def whole(told: int | bytes) -> int:
    """A count from a script, which writes in digits what it cannot tell as a number."""
    return told if isinstance(told, int) else min(int(told), LARGEST)
