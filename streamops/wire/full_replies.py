"""Replies of XINFO STREAM FULL become nouns. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from streamops.model.entries import PendingEntry
from streamops.model.ids import EPOCH, EntryId
from streamops.model.readings import GroupReading, StreamReading
from streamops.model.streams import Consumer
from streamops.wire.node import Reply
from streamops.wire.picking import Picker, Row
from streamops.wire.replies import MILLISECOND, NO_TIME, decode_clock, decode_name, missing_field

NEVER: Final = -1
DENIED: Final = PermissionError("not asked")


class Ages(dict[int, timedelta]):
    """How long ago a time in milliseconds was, never negative; one instant is often the time of several things.

    Args:
        now: The server's clock, in milliseconds.
    """

    def __init__(self, now: int) -> None:
        super().__init__()
        self._now = now

    def __missing__(self, then: int) -> timedelta:
        age = self[then] = (self._now - then) * MILLISECOND if then < self._now else NO_TIME
        return age


class FullDecoder:
    """Decodes one server's replies of one round trip, as they come in: the clock first.

    Without a clock nobody can tell who has idled for how long, and consumers and pending entries are left out.
    """

    def __init__(self) -> None:
        self._ages: Ages | None = None
        self._stream = Picker(
            (b"length", b"entries", b"last-generated-id", b"groups"),
            (b"entries-added", b"max-deleted-entry-id"),
        )
        self._group = Picker(
            (b"name", b"last-delivered-id", b"pel-count", b"pending", b"consumers"), (b"entries-read", b"lag")
        )
        self._consumer = Picker((b"name", b"seen-time", b"pel-count", b"pending"), (b"active-time",))

    def hear_time(self, reply: Reply) -> Reply:
        """Take the clock from the reply of TIME, which stays as it is."""
        return self._hear(decode_clock(reply, None), reply)

    def hear_info(self, reply: Reply) -> Reply:
        """The same from the reply of INFO, for servers where TIME may not be asked."""
        return self._hear(decode_clock(DENIED, reply), reply) if self._ages is None else reply

    def _hear(self, at: datetime | None, reply: Reply) -> Reply:
        if at is not None:
            self._ages = Ages((at - EPOCH) // MILLISECOND)
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
                first_id=EntryId.parse(entries[0][0]) if entries else None,
                last_generated_id=EntryId.parse(last_generated),
                entries_added=added,
                max_deleted_id=EntryId.parse(deleted) if deleted else None,
                entry_bytes=sum(map(len, entries[0][1])) if entries else 0,
            )
        except KeyError as error:
            raise missing_field("XINFO STREAM FULL", error) from None

    def _decode_groups(self, rows: Sequence[Row]) -> tuple[GroupReading, ...]:
        ages = self._ages
        groups = [
            GroupReading(
                decode_name(name),
                len(consumers),
                pending,
                EntryId.parse(position),
                entries_read,
                lag,
                _pending(entries[0], ages) if entries and ages is not None else None,
                members=self._decode_members(consumers, ages) if ages is not None else None,
            )
            for name, position, pending, entries, consumers, entries_read, lag in self._group.pick_all(rows)
        ]
        return tuple(groups)

    def _decode_members(self, consumers: Sequence[Row], ages: Ages) -> tuple[Consumer, ...]:
        members = [
            Consumer(
                decode_name(name),
                pending,
                ages[seen],
                None if active is None or active == NEVER else ages[active],
                None,
                ages[rows[0][1]] if rows else None,
            )
            for name, seen, pending, rows, active in self._consumer.pick_all(consumers)
        ]
        return tuple(members)


def _pending(row: Row, ages: Ages) -> PendingEntry:
    entry_id, consumer, delivered, deliveries = row
    return PendingEntry(EntryId.parse(entry_id), decode_name(consumer), ages[delivered], deliveries)
