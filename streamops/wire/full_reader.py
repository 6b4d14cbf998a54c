"""Streams with their groups and consumers, each read by one XINFO STREAM FULL: the cheapest way where entries are small."""

import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from msgspec.structs import replace

from streamops.model.entries import EPOCH, PendingEntry, parse_id
from streamops.model.streams import (
    MILLISECOND,
    NOBODY,
    ConsumerColumns,
    GroupReading,
    Members,
    StreamReading,
    since,
)
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Node, Reply
from streamops.wire.replies import Picker, Row, decode_clock, decode_name, decode_names, missing_field
from streamops.wire.server import Server
from streamops.wire.stream_reader import PRELUDE, Depth, Identities, Readings, StreamReader, preludes_of

LIGHT_BYTES: Final = 4096
"""FULL ships the first entry: streams with larger ones are read by a script, which leaves payloads on the server."""

MAX_CONSUMERS: Final = 250
"""FULL walks all consumers of all groups: streams with more of them are read without."""

TRY_AGAIN: Final = 60.0
"""Seconds after which what was refused is tried again."""

MAX_GROUPS: Final = 1_000
"""The same of groups."""


Part = tuple[StreamReading | Fault, datetime | None]
"""A stream's reading, and its server's clock."""


class FullReader:
    """Reads light streams in full and the others as ``StreamReader`` does, in one round trip a node and way.

    A stream is read by the script at first: only then is it known whether it is light. Where XINFO STREAM is
    not permitted, everything is read as ``StreamReader`` can, and it is tried again later: permissions change.
    """

    def __init__(self, server: Server, reader: StreamReader) -> None:
        self._server = server
        self._reader = reader
        self._light: set[str] = set()
        self._try_at = -math.inf

    @property
    def servers(self) -> Identities:
        """Who answers, as all ways of reading have heard together."""
        return self._reader.servers

    @property
    def depth(self) -> Depth:
        """Where the reader of all other streams stands."""
        return self._reader.depth

    @property
    def _permitted(self) -> bool:
        """Whether it has not been refused of late."""
        return time.monotonic() >= self._try_at

    async def read(self, names: Sequence[str]) -> Readings:
        """Read the streams, the servers' clocks and INFO; raises ``ServerError`` if no node answers."""
        parts: dict[str, Part] = {}
        passes, epochs = [], set[int]()
        light = [name for name in names if name in self._light] if self._permitted else []
        if light:
            passes.append(await self._read_full(light))
            epochs.add(self.servers.epoch)
            if self._permitted:
                parts.update(_by_name(light, passes[-1]))
            else:
                passes.clear()
        rest = [name for name in names if name not in parts]
        if rest or not passes:
            passes.append(await self._read_by_script(rest))
            epochs.add(self.servers.epoch)
            parts.update(_by_name(rest, passes[-1]))
        if len(epochs) > 1:
            # Another server took over between two of them: nothing says which of the streams are whose.
            return await self._read_by_script(names)
        return passes[0] if len(passes) == 1 else _joined(names, parts, passes)

    def forget_all_but(self, names: Sequence[str]) -> None:
        """Know no other streams than these: the others are watched no more."""
        if len(self._light) > len(names):
            self._light.intersection_update(names)

    def shun(self, name: str) -> None:
        """Read a stream without its entries from now on: one of them was large."""
        self._light.discard(name)

    async def _read_full(self, names: Sequence[str]) -> Readings:
        decoders: defaultdict[Node | None, FullDecoder] = defaultdict(FullDecoder)
        requests = [
            Request(
                name,
                ("XINFO", "STREAM", name, "FULL", "COUNT", 1),
                partial(decoders[self._server.node_of(name)].decode, name),
            )
            for name in names
        ]
        answers = await self._server.batch(
            requests, PRELUDE, lambda node: (decoders[node].hear_time, decoders[node].hear_info)
        )
        preludes = preludes_of(self._server, answers)
        self.servers.note(preludes.server.nodes, preludes.failures)
        return preludes.readings(
            [self._learnt(name, reply) for name, reply in zip(names, answers.replies, strict=True)],
            [preludes.times.get(node) if node else None for node in answers.nodes],
        )

    def _learnt(self, name: str, reply: StreamReading | Exception) -> StreamReading | Fault:
        """A reading, or why there is none; and what that says of the next one."""
        if not isinstance(reply, Exception):
            if not _is_light(reply):
                self._light.discard(name)
            return reply
        why = fault(reply)
        self._light.discard(name)
        if why.denies_command or why.kind is FaultKind.UNSUPPORTED:
            self._light.clear()
            self._try_at = time.monotonic() + TRY_AGAIN
        return why

    async def _read_by_script(self, names: Sequence[str]) -> Readings:
        """Read streams as ``StreamReader`` does; take note how heavy they are."""
        readings = await self._reader.read(names)
        for reading in readings.streams:
            if isinstance(reading, StreamReading) and reading.bounds_read and _is_light(reading):
                self._light.add(reading.name)
        return readings


def _is_light(reading: StreamReading) -> bool:
    consumers = sum([group.consumers for group in reading.groups])
    light = (reading.entry_bytes or 0) <= LIGHT_BYTES and consumers <= MAX_CONSUMERS
    return light and len(reading.groups) <= MAX_GROUPS


def _by_name(names: Sequence[str], readings: Readings) -> dict[str, Part]:
    return dict(zip(names, zip(readings.streams, readings.times, strict=True), strict=True))


def _joined(names: Sequence[str], parts: Mapping[str, Part], passes: Sequence[Readings]) -> Readings:
    """Readings of different streams as one, in the order of the names."""
    return replace(
        passes[0],
        streams=[parts[name][0] for name in names],
        times=[parts[name][1] for name in names],
        failures={address: why for one in passes for address, why in one.failures.items()},
    )


NEVER: Final = -1
DENIED: Final = PermissionError("not asked")


class FullDecoder:
    """Decodes one server's replies of one round trip, as they come in: the clock first.

    The replies tell instants and not ages. Without a clock idle times are not known, and consumers and
    pending entries are left out.
    """

    def __init__(self) -> None:
        self._now: int | None = None
        self._stream = Picker(
            (b"length", b"entries", b"last-generated-id", b"groups"),
            (b"entries-added", b"max-deleted-entry-id"),
        )
        self._group = Picker(
            (b"name", b"last-delivered-id", b"pel-count", b"pending", b"consumers"), (b"entries-read", b"lag")
        )
        self._consumer = Picker((b"name", b"seen-time", b"pel-count", b"pending"), (b"active-time",))

    def hear_time(self, reply: Reply) -> Reply:
        """Take note of a clock in the reply of TIME, which stays as it is."""
        self._hear(reply, None)
        return reply

    def hear_info(self, reply: Reply) -> Reply:
        """The same from the reply of INFO, for servers where TIME may not be asked."""
        self._hear(DENIED, reply)
        return reply

    def _hear(self, time: Reply, info: Reply) -> None:
        if self._now is None and (at := decode_clock(time, info)) is not None:
            self._now = (at - EPOCH) // MILLISECOND

    def decode(self, name: str, reply: Row) -> StreamReading:
        """The reply of XINFO STREAM FULL COUNT 1 for a stream; raises ``UnexpectedReply`` if a field is missing."""
        try:
            length, entries, last_generated, groups, added, deleted = self._stream.pick(reply)
            return StreamReading(
                name,
                length,
                self._decode_groups(groups),
                True,  # noqa: FBT003 - as fields of a struct go, and thousands of these are made
                parse_id(entries[0][0]) if entries else None,
                None,
                parse_id(last_generated),
                added,
                parse_id(deleted) if deleted else None,
                sum(map(len, entries[0][1])) if entries else 0,
            )
        except KeyError as error:
            raise missing_field("XINFO STREAM FULL", error) from None

    def _decode_groups(self, rows: Sequence[Row]) -> tuple[GroupReading, ...]:
        now = self._now
        groups = [
            GroupReading(
                decode_name(name),
                len(consumers),
                pending,
                parse_id(position),
                entries_read,
                lag,
                _pending(entries[0], now) if entries and now is not None else None,
                None,
                False,  # noqa: FBT003 - the same
                None if now is None else Members(self._columns(consumers), now),
            )
            for name, position, pending, entries, consumers, entries_read, lag in self._group.pick_all(rows)
        ]
        return tuple(groups)

    def _columns(self, rows: Sequence[Row]) -> ConsumerColumns:
        if not rows:
            return NOBODY
        names, seen, pending, entries, active = self._consumer.columns(rows)
        return ConsumerColumns(
            decode_names(names),
            pending,
            seen,
            tuple([None if one == NEVER else one for one in active]) if NEVER in active else active,
            tuple([some[0][1] if some else None for some in entries]),
        )


def _pending(row: Row, now: int) -> PendingEntry:
    entry_id, consumer, delivered, deliveries = row
    return PendingEntry(parse_id(entry_id), decode_name(consumer), since(delivered, now), deliveries)
