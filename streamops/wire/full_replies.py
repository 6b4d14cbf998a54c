"""Replies of XINFO STREAM FULL become nouns. Pure."""

from collections.abc import Sequence
from typing import Final

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
from streamops.wire.node import Reply
from streamops.wire.picking import Picker, Row
from streamops.wire.replies import decode_clock, decode_name, decode_names, missing_field

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
        """The reply of XINFO STREAM FULL COUNT 1 for a stream; raises ``UnexpectedReply`` where a field is missing."""
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
