"""Taking over what others left lying: entries of dead workers at once, anybody's after their lease.

Every worker does it, at random moments; the more of them there are, the less often each. So there is no leader to
lose, and the server's work does not grow with their number.
"""

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from streamops.errors import ServerError
from streamops.runtime.consumer import Asked, Source
from streamops.runtime.entry import Side
from streamops.runtime.events import ConsumerRemoved, Event, Reclaimed, Troubled
from streamops.runtime.executor import Executor
from streamops.wire.consuming.hearts import WORKER_PREFIX, alive
from streamops.wire.consuming.leases import leave
from streamops.wire.consuming.taking import (
    START,
    Takings,
    group_consumers,
    take_from,
    take_idle,
)
from streamops.wire.server import Server

PAGE: Final = 200
BEATS_PER_LOOK: Final = 2
LEASE_SHARE: Final = 4
"""The lease divided by this is how often entries that lie idle are looked for."""


class Claimer:
    """Takes over entries of one source's group."""

    def __init__(
        self,
        server: Server,
        source: Source,
        executor: Executor,
        *,
        beat: timedelta,
        steady: Callable[[], bool],
        emit: Callable[[Event], None],
    ) -> None:
        self._server = server
        self._source = source
        self._executor = executor
        self._beat = beat
        self._steady = steady
        self._emit = emit
        self._lease = executor.handler.lease
        self._now = asyncio.get_running_loop().time
        self._cursors = dict.fromkeys(source.sides, START)
        self._crowd = 1
        self._next_sweep = 0.0

    async def run(self) -> None:
        """Look around, for ever."""
        look = self._beat.total_seconds() * BEATS_PER_LOOK
        sweep = self._lease.total_seconds() / LEASE_SHARE
        while True:
            # Alone, a worker looks as often as that; of many, each less often.
            await asyncio.sleep(min(look * max(1.0, self._crowd / 4), sweep) * random.uniform(0.5, 1.5))  # noqa: S311
            # After a time without the server everybody looks dead, and every lease has run out.
            if self._source.paused or not self._steady():
                continue
            try:
                for side in self._source.sides:
                    await self._claim_from_dead(side)
                if self._now() >= self._next_sweep:
                    self._next_sweep = self._now() + sweep * self._crowd * random.uniform(0.5, 1.5)  # noqa: S311
                    for side in self._source.sides:
                        await self._sweep(side)
                        await self._recover_own(side)
            except ServerError as error:
                # A reply may have been lost that gave us entries.
                self._source.doubt()
                self._emit(Troubled(self._source.subscription.stream, error))

    async def _claim_from_dead(self, side: Side) -> None:
        """Take over from consumers whose heartbeat is gone, and remove those that have nothing left."""
        sub = self._source.subscription
        members = await group_consumers(self._server, sub, retries=side.retries)
        ours = [one for one in members if one.name.startswith(WORKER_PREFIX) and one.name != sub.consumer]
        self._crowd = len(ours) + 1
        living = await alive(self._server, [one.name for one in ours]) if ours else set()
        # An entry that such a one may still take for its own has been delivered a moment ago.
        patience = self._beat * 3
        for one in ours:
            if one.name in living or one.idle < patience:
                continue
            if one.pending:
                await self._take_from(side, one.name, patience / 2)
            elif await leave(self._server, sub, consumer=one.name, retries=side.retries):
                self._emit(ConsumerRemoved(side.key, sub.group, one.name))

    async def _take_from(self, side: Side, owner: str, min_idle: timedelta) -> None:
        """Take over what lies idle with one consumer."""
        after = START
        while after and self._executor.room > 0:
            asked = self._source.asking()
            takings = await take_from(
                self._server,
                self._source.subscription,
                retries=side.retries,
                owner=owner,
                min_idle=min_idle,
                limit=min(PAGE, self._executor.room),
                after=after,
            )
            await self._receive(side, takings, asked, owner)
            after = takings.next

    async def _recover_own(self, side: Side) -> None:
        """Take what lies idle under our own name: a read that was given up may have reached the server after all."""
        after = START
        while after and self._executor.room > 0:
            after = await self._source.recover_own(
                side, limit=self._executor.room, after=after, min_idle=self._lease
            )

    async def _sweep(self, side: Side) -> None:
        """Take over what lies idle for longer than its lease, whoever's it is; one round through the group."""
        while self._executor.room > 0:
            asked = self._source.asking()
            takings = await take_idle(
                self._server,
                self._source.subscription,
                retries=side.retries,
                min_idle=self._lease,
                limit=min(PAGE, self._executor.room),
                cursor=self._cursors[side],
            )
            await self._receive(side, takings, asked, "")
            self._cursors[side] = takings.next or START
            if not takings.next:
                return

    async def _receive(self, side: Side, takings: Takings, asked: Asked, consumer: str) -> None:
        number = await self._source.deliver_again(side, takings, asked)
        sub = self._source.subscription
        if number:
            self._executor.counts.reclaimed += number
            self._emit(Reclaimed(sub.stream, sub.group, number, consumer))
