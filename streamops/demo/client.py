"""The few commands that the cast of the demo uses, over a plain redis-py client."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from msgspec import Struct

from streamops.demo.dead_letters import dead_letter_stream
from streamops.demo.dump import backdate_seen
from streamops.demo.payloads import Fields
from streamops.model.entries import EntryId
from streamops.wire.connect import connect_client
from streamops.wire.options import ConnectionOptions

MILLISECOND = timedelta(milliseconds=1)
PAGE = 500


class DeliveredEntry(Struct, frozen=True):
    """An entry that a group gave to a consumer.

    Attributes:
        id: The entry's ID.
        fields: Its fields.
    """

    id: EntryId
    fields: Fields


_Row = tuple[bytes, Fields]


class DemoClient:
    """One server, spoken to as an ordinary application would."""

    def __init__(self, options: ConnectionOptions) -> None:
        self._client = connect_client(options)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def read_time(self) -> datetime:
        """The server's clock."""
        seconds, microseconds = await self._client.time()
        return datetime.fromtimestamp(seconds, tz=UTC) + timedelta(microseconds=microseconds)

    async def count_existing(self, streams: Sequence[str]) -> int:
        """How many of these keys exist."""
        return await self._client.exists(*streams)

    async def add(self, stream: str, entries: Iterable[Fields], *, cap: int) -> None:
        """Add entries, keeping about ``cap``."""
        async with self._client.pipeline(transaction=False) as pipe:
            for fields in entries:
                pipe.xadd(stream, cast("Any", fields), maxlen=cap)
            await pipe.execute()

    async def add_past(self, stream: str, entries: Sequence[tuple[EntryId, Fields]]) -> None:
        """Add entries under the IDs of their time."""
        for start in range(0, len(entries), PAGE):
            async with self._client.pipeline(transaction=False) as pipe:
                for entry_id, fields in entries[start : start + PAGE]:
                    pipe.xadd(stream, cast("Any", fields), id=str(entry_id))
                await pipe.execute()

    async def create_group(self, stream: str, group: str) -> None:
        """Create a group that starts at the stream's first entry."""
        await self._client.xgroup_create(stream, group, id="0", mkstream=True)

    async def read(
        self, stream: str, group: str, consumer: str, *, count: int, block: timedelta = timedelta(seconds=2)
    ) -> list[DeliveredEntry]:
        """Take up to ``count`` new entries, waiting ``block`` for the first; empty if none came."""
        reply = await self._client.xreadgroup(
            group, consumer, {stream: ">"}, count=count, block=int(block / MILLISECOND)
        )
        rows = cast("dict[bytes, list[_Row]]", reply or {}).get(stream.encode(), [])
        return [_delivery(row) for row in rows]

    async def skim(self, stream: str, group: str, consumer: str, count: int) -> None:
        """Take ``count`` entries that are acknowledged by being read."""
        while count > 0:
            page = min(count, PAGE)
            await self._client.xreadgroup(group, consumer, {stream: ">"}, count=page, noack=True)
            count -= page

    async def ack(self, stream: str, group: str, deliveries: Sequence[DeliveredEntry]) -> None:
        """Acknowledge entries."""
        if deliveries:
            await self._client.xack(stream, group, *(str(delivery.id) for delivery in deliveries))

    async def claim_own(
        self, stream: str, group: str, consumer: str, *, min_idle: timedelta
    ) -> list[tuple[DeliveredEntry, int]]:
        """Take the consumer's own pending entries once more; each with its delivery count."""
        pending = await self._client.xpending_range(stream, group, "-", "+", PAGE, consumername=consumer)
        counts = {cast("bytes", row["message_id"]): cast("int", row["times_delivered"]) for row in pending}
        if not counts:
            return []
        reply = await self._client.xclaim(stream, group, consumer, int(min_idle / MILLISECOND), list(counts))
        return [(_delivery(row), counts[row[0]] + 1) for row in cast("list[_Row]", reply)]

    async def give_up(self, letter: Fields, stream: str, group: str, entry_id: EntryId, *, cap: int) -> None:
        """Write a dead letter and acknowledge its entry, in one transaction."""
        async with self._client.pipeline(transaction=True) as pipe:
            pipe.xadd(dead_letter_stream(stream), cast("Any", letter), maxlen=cap)
            pipe.xack(stream, group, str(entry_id))
            await pipe.execute()

    async def abandon(
        self, stream: str, group: str, consumer: str, count: int, *, idle: timedelta, deliveries: int
    ) -> None:
        """Take ``count`` new entries and leave them pending, as if delivered that often and that long ago."""
        taken = await self.read(stream, group, consumer, count=count)
        await self._client.xclaim(
            stream,
            group,
            consumer,
            0,
            [str(delivery.id) for delivery in taken],
            idle=int(idle / MILLISECOND),
            retrycount=deliveries,
            justid=True,
        )

    async def backdate_consumer(self, stream: str, consumer: str, unseen: timedelta) -> None:
        """Make a consumer look unseen for that long. No command can: the stream is written again."""
        dump = await self._client.dump(stream)
        if dump is not None:
            await self._client.restore(stream, 0, backdate_seen(dump, consumer, unseen), replace=True)


def _delivery(row: _Row) -> DeliveredEntry:
    entry_id, fields = row
    return DeliveredEntry(EntryId.parse(entry_id), fields)
