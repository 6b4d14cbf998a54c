"""Keeps the groups of one subscription there: one that was destroyed is created anew, with all that is in hand pending.

Another worker may do the same at the same moment, or have done so while this one was not reading, and nothing tells of
that: so a group that does not know our name, though there is something of it in hand, counts as destroyed as well.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from math import inf

from streamops.errors import ServerError
from streamops.runtime.entry import Entry, Side
from streamops.runtime.events import Event, GroupRestored, Lost, Troubled
from streamops.wire.consuming.acknowledging import AckRow, acknowledge_checked
from streamops.wire.consuming.leases import register, renew
from streamops.wire.consuming.reading import ensure_group, group_position, restore_group
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.consuming.taking import group_consumers
from streamops.wire.server import Server


class Groups:
    """The groups of a stream and of its retry stream.

    Args:
        server: Where they are.
        subscription: Whose.
        sides: The two streams, and what is in hand of each.
        lease: For how long an entry is ours.
        steady: Whether there was no silence of ours, in which others may have taken us for dead.
        emit: Told of what was restored or lost.
    """

    def __init__(
        self,
        server: Server,
        subscription: Subscription,
        sides: Sequence[Side],
        *,
        lease: timedelta,
        steady: Callable[[], bool],
        emit: Callable[[Event], None],
    ) -> None:
        self._server = server
        self._subscription = subscription
        self._sides = sides
        self._lease = lease
        self._steady = steady
        self._emit = emit
        # When it was noticed that a group had been destroyed.
        self._destroyed_at = dict.fromkeys(sides, -inf)
        self._mending = asyncio.Lock()
        self._looking: asyncio.Task[None] | None = None

    async def prepare(self, start: str) -> None:
        """Create them where there are none; that of the stream begins at ``start``.

        Raises:
            ServerError: The server does not answer, or does not let us; or a key is of another type.
        """
        group = self._subscription.group
        for side in self._sides:
            await ensure_group(self._server, side.key, group, "0" if side.retries else start)
            # Should somebody destroy it before anything was read, it goes on from here, and not from the beginning.
            side.last_seen = await group_position(self._server, side.key, group)

    async def restore(self) -> None:
        """See to those that do not know our name; raises ``ServerError`` as all of these do."""
        async with self._mending:
            for side in self._sides:
                if not await self._knows_us(side):
                    await self._restore(side)

    async def restore_held(self) -> None:
        """The same where something of theirs is in hand: to read from such a one would make our name known again."""
        async with self._mending:
            for side in self._sides:
                if side.in_flight and not await self._knows_us(side):
                    await self._restore(side)

    def group_lost(self) -> None:
        """One was destroyed, it seems, and with it the list of what was pending: look at once."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._restore_or_tell())

    async def close(self) -> None:
        """Leave them as they are from now on."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def is_pending_again(self, entry: Entry) -> bool:
        """Whether an entry that is not pending under our name was so because its group was destroyed, and is now.

        Raises:
            ServerError: The server does not answer, or does not let us.
        """
        side, now = entry.side, asyncio.get_running_loop().time()
        if entry.lost or entry.leased_at < now - self._lease.total_seconds():
            # Others may have handled it.
            return False
        async with self._mending:
            if entry.leased_at > self._destroyed_at[side]:
                ids = [entry.raw_id]
                renewed = await renew(self._server, self._subscription, retries=side.retries, ids=ids)
                if not renewed.lost:
                    # It has been looked after meanwhile.
                    return True
                if not renewed.group_lost:
                    return False
            return entry.raw_id in await self._restore(side)

    async def _restore_or_tell(self) -> None:
        try:
            await self.restore_held()
        except ServerError as error:
            # With the next renewal it is looked at again.
            self._emit(Troubled(self._subscription.stream, error))

    async def _knows_us(self, side: Side) -> bool:
        """Whether a side's group is there, and has a consumer of our name."""
        members = await group_consumers(self._server, self._subscription, retries=side.retries)
        return any(one.name == self._subscription.consumer for one in members)

    async def _restore(self, side: Side) -> frozenset[bytes]:
        """Create a group anew where it is not there, and have all that is in hand pending again; what is now."""
        sub = self._subscription
        self._destroyed_at[side] = asyncio.get_running_loop().time()
        began = await restore_group(self._server, side.key, sub.group, side.last_seen.decode())
        if began is not None:
            self._emit(GroupRestored(side.key, sub.group, began))
        held = [entry for entry in side.in_flight.values() if not entry.lost and not entry.gone]
        if began is None and not self._steady():
            # After a silence of ours it may be our name alone that is gone, as a dead one's: others had what was ours.
            # Not where the group itself was gone: whoever had it has lost it as well.
            for entry in held:
                entry.lost = True
            return frozenset()
        if not held:
            return frozenset()
        leased_at = asyncio.get_running_loop().time()
        rows = [(entry.raw_id, entry.deliveries) for entry in held]
        registered = await register(self._server, sub, retries=side.retries, entries=rows)
        ours, lost, gone = map(frozenset, (registered.ours, registered.lost, registered.gone))
        for entry in held:
            if entry.raw_id in ours:
                entry.leased_at = leased_at
            elif entry.raw_id in lost:
                entry.lost = True
            elif entry.raw_id in gone:
                entry.gone = True
                self._emit(Lost(sub.stream, sub.group, entry.id, entry.deliveries))
        # What was settled meanwhile must not stay behind.
        settled = [AckRow(one) for one in registered.ours if one not in side.in_flight]
        if settled:
            await acknowledge_checked(self._server, sub, retries=side.retries, rows=settled)
        return ours
