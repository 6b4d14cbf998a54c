"""Creates the groups that a worker reads for, and restores one that was destroyed, with all entries in flight pending again.

Another worker may restore it at the same moment, or may have done so while this one was not reading, and no reply says
so: a group without a consumer of our name while we have entries of it in flight counts as destroyed, too.
"""

import asyncio
import time
from collections.abc import Iterable

from streamops.errors import ServerError
from streamops.runtime.context import WorkerContext
from streamops.runtime.entry import ConsumerStream, Entry
from streamops.runtime.events import BacklogSkipped, GroupRestored, Lost, Troubled
from streamops.wire.consuming.claiming import group_consumers
from streamops.wire.consuming.entries import (
    AckRow,
    acknowledge_checked,
    ensure_group,
    group_position,
    restore_group,
)
from streamops.wire.consuming.leases import register, renew

NEW, ALL = "$", "0"
NEVER = b"0-0"


class Groups:
    """The groups of a worker's streams and of their retry streams."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._server = context.server
        self._looking: dict[ConsumerStream, asyncio.Task[None]] = {}

    async def prepare(self, streams: Iterable[ConsumerStream], start: str) -> None:
        """Create missing groups; those of streams begin at ``start``, those of retry streams at 0.

        Raises:
            ServerError: The server does not answer, or refuses; or a key is of another type.
        """
        for stream in streams:
            group = stream.subscription.group
            begins = ALL if stream.retries else start
            is_new = await ensure_group(self._server, stream.key, group, begins)
            # If the group is destroyed before anything was read, it is restored at this position.
            stream.last_seen = (await group_position(self._server, stream.key, group)).encode()
            if is_new and begins == NEW and stream.last_seen != NEVER:
                self._context.events.emit(BacklogSkipped(stream.key, group, stream.last_seen.decode()))

    async def restore(self, streams: Iterable[ConsumerStream]) -> None:
        """Restore groups that have no consumer of our name; raises ``ServerError``."""
        for stream in streams:
            async with stream.mending:
                if not await self._knows_us(stream):
                    await self._restore(stream)

    async def restore_held(self, streams: Iterable[ConsumerStream]) -> None:
        """Restore groups of streams with entries in flight, before a read would create our consumer again."""
        await self.restore(stream for stream in streams if stream.in_flight)

    def group_lost(self, stream: ConsumerStream) -> None:
        """Check, in a task, a group that seems to have been destroyed."""
        looking = self._looking.get(stream)
        if looking is None or looking.done():
            self._looking[stream] = asyncio.create_task(self._restore_or_report(stream))

    async def close(self) -> None:
        """Cancel all checks."""
        for looking in self._looking.values():
            looking.cancel()
        await asyncio.gather(*self._looking.values(), return_exceptions=True)

    async def is_pending_again(self, entry: Entry) -> bool:
        """Whether an entry lost its pending row because its group was destroyed, and has it again now.

        Raises:
            ServerError: The server does not answer, or refuses.
        """
        stream = entry.consumer_stream
        if entry.lost or entry.leased_at < time.monotonic() - stream.lease.total_seconds():
            # Another consumer may have handled it.
            return False
        async with stream.mending:
            if entry.leased_at > stream.destroyed_at:
                sub, ids = stream.subscription, [entry.raw_id]
                renewed = await renew(self._server, sub, retries=stream.retries, ids=ids)
                if not renewed.lost:
                    # The group was restored meanwhile.
                    return True
                if not renewed.group_lost:
                    return False
            return entry.raw_id in await self._restore(stream)

    async def _restore_or_report(self, stream: ConsumerStream) -> None:
        try:
            await self.restore_held([stream])
        except ServerError as error:
            # The next renewal of leases checks it again.
            self._context.events.emit(Troubled(stream.subscription.stream, error))

    async def _knows_us(self, stream: ConsumerStream) -> bool:
        """Whether a group exists and has a consumer of our name."""
        members = await group_consumers(self._server, stream.subscription, retries=stream.retries)
        return any(one.name == stream.subscription.consumer for one in members)

    async def _restore(self, stream: ConsumerStream) -> frozenset[bytes]:
        """Create a group if it is missing, and make all entries in flight pending again; the IDs of those that are."""
        group = stream.subscription.group
        stream.destroyed_at = time.monotonic()
        began = await restore_group(self._server, stream.key, group, stream.last_seen.decode())
        if began is not None:
            self._context.events.emit(GroupRestored(stream.key, group, began))
        held = [entry for entry in stream.in_flight.values() if not entry.lost and not entry.deleted]
        if began is None and not self._context.clock.is_steady():
            # After missed heartbeats, others may have removed our consumer as a dead one and claimed its entries. If the
            # group itself was missing, no other consumer has claimed them.
            for entry in held:
                entry.lost = True
            return frozenset()
        return await self._register(stream, held) if held else frozenset()

    async def _register(self, stream: ConsumerStream, held: list[Entry]) -> frozenset[bytes]:
        """Make entries pending under our name again; the IDs of those that are."""
        sub, retries, leased_at = stream.subscription, stream.retries, time.monotonic()
        rows = [(entry.raw_id, entry.deliveries) for entry in held]
        registered = await register(self._server, sub, retries=retries, entries=rows)
        ours, lost, gone = map(frozenset, (registered.ours, registered.lost, registered.gone))
        for entry in held:
            if entry.raw_id in ours:
                entry.leased_at = leased_at
            elif entry.raw_id in lost:
                entry.lost = True
            elif entry.raw_id in gone:
                entry.deleted = True
                self._context.events.emit(Lost(sub.stream, sub.group, entry.id, entry.deliveries))
        # Entries that were acknowledged meanwhile must not stay pending.
        settled = [AckRow(one) for one in registered.ours if one not in stream.in_flight]
        if settled:
            await acknowledge_checked(self._server, sub, retries=retries, rows=settled)
        return ours
