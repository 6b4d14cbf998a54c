"""Replies of XINFO STREAM FULL become nouns. Pure."""

from collections.abc import Sequence
from typing import Final

from streamops.model.entries import parse_id
from streamops.model.streams import NOBODY, ConsumerColumns, Delivery, GroupReading, StreamReading
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
        self._has_clock = False
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
        self._has_clock |= decode_clock(reply, None) is not None
        return reply

    def hear_info(self, reply: Reply) -> Reply:
        """The same from the reply of INFO, for servers where TIME may not be asked."""
        self._has_clock = self._has_clock or decode_clock(DENIED, reply) is not None
        return reply

    def decode(self, name: str, reply: Row) -> StreamReading:
        """The reply of XINFO STREAM FULL COUNT 1 for a stream; raises ``UnexpectedReply`` where a field is missing."""
        try:
            length, entries, last_generated, groups, added, deleted = self._stream.pick(reply)
            return StreamReading(
                name,
                length,
                self._decode_groups(groups),
                bounds_read=True,
                first_id=parse_id(entries[0][0]) if entries else None,
                last_generated_id=parse_id(last_generated),
                entries_added=added,
                max_deleted_id=parse_id(deleted) if deleted else None,
                entry_bytes=sum(map(len, entries[0][1])) if entries else 0,
            )
        except KeyError as error:
            raise missing_field("XINFO STREAM FULL", error) from None

    def _decode_groups(self, rows: Sequence[Row]) -> tuple[GroupReading, ...]:
        has_clock = self._has_clock
        groups = [
            GroupReading(
                decode_name(name),
                len(consumers),
                pending,
                parse_id(position),
                entries_read,
                lag,
                None,
                None,
                False,  # noqa: FBT003 - as fields of a struct go, and thousands of these are made
                self._decode_members(consumers) if has_clock else None,
                _delivery(entries[0]) if entries and has_clock else None,
            )
            for name, position, pending, entries, consumers, entries_read, lag in self._group.pick_all(rows)
        ]
        return tuple(groups)

    def _decode_members(self, rows: Sequence[Row]) -> ConsumerColumns:
        if not rows:
            return NOBODY
        names, seen, pending, entries, active = zip(*self._consumer.pick_all(rows), strict=True)
        return ConsumerColumns(
            decode_names(names),
            pending,
            seen,
            tuple([None if one == NEVER else one for one in active]) if NEVER in active else active,
            tuple([some[0][1] if some else None for some in entries]),
        )


def _delivery(row: Row) -> Delivery:
    entry_id, consumer, delivered, deliveries = row
    return Delivery(parse_id(entry_id), decode_name(consumer), delivered, deliveries)
