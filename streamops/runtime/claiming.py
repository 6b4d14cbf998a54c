"""Claims entries of dead workers, and of any consumer once their lease has expired.

Every worker does it at random moments, the less often the more workers there are. So there is no leader to lose, and the
load on the server does not grow with their number.
"""

import asyncio
import random
import time
from datetime import timedelta
from typing import Final

from streamops.errors import ServerError
from streamops.runtime.consumer import StreamConsumer
from streamops.runtime.entry import ConsumerStream
from streamops.runtime.events import ConsumerRemoved, Reclaimed, Troubled
from streamops.wire.consuming.claiming import START, group_consumers, take_idle
from streamops.wire.consuming.heartbeats import WORKER_PREFIX, alive
from streamops.wire.consuming.leases import leave

PAGE: Final = 200
HEARTBEATS_PER_SCAN: Final = 2
LEASE_SHARE: Final = 4
"""The lease divided by this is the interval between two searches for idle entries."""


class Claimer:
    """Claims entries for one consumer."""

    def __init__(self, consumer: StreamConsumer) -> None:
        self._consumer = consumer
        self._context = consumer.context
        self._executor = consumer.executor
        self._sub = consumer.subscription
        self._lease = consumer.executor.handler.lease
        self._workers = 1
        self._next_sweep = 0.0

    async def run(self) -> None:
        """Search for entries to claim until cancelled."""
        look = self._context.interval.total_seconds() * HEARTBEATS_PER_SCAN
        sweep = self._lease.total_seconds() / LEASE_SHARE
        while True:
            # A single worker searches this often; of many, each searches less often.
            pause = min(look * max(1.0, self._workers / 4), sweep)
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no cryptography
            # After an outage all workers look dead, and all leases have expired.
            if self._consumer.paused or not self._context.clock.is_steady():
                continue
            try:
                with self._consumer.asking():
                    await self._look(sweep)
            except ServerError as error:
                # A lost reply may have carried entries.
                self._consumer.doubt()
                self._context.events.emit(Troubled(self._sub.stream, error))

    async def _look(self, sweep: float) -> None:
        """Claim from dead consumers; every ``sweep`` seconds, on average, claim idle entries of any consumer."""
        for stream in self._consumer.streams:
            await self._claim_from_dead(stream)
        if time.monotonic() >= self._next_sweep:
            self._next_sweep = time.monotonic() + sweep * self._workers * random.uniform(0.5, 1.5)  # noqa: S311
            for stream in self._consumer.streams:
                # A pass over the whole group may take several sweeps, as room allows.
                after = await self._claim(stream, min_idle=self._lease, after=stream.claim_cursor)
                stream.claim_cursor = after or START
                await self._recover_own(stream)

    async def _claim_from_dead(self, stream: ConsumerStream) -> None:
        """Claim from consumers without a heartbeat, and remove those that have nothing pending."""
        server, retries = self._context.server, stream.retries
        members = await group_consumers(server, self._sub, retries=retries)
        workers = [
            one for one in members if one.name.startswith(WORKER_PREFIX) and one.name != self._sub.consumer
        ]
        self._workers = len(workers) + 1
        living = await alive(server, [one.name for one in workers]) if workers else set()
        # A consumer that lost its heartbeat a moment ago may still handle what it owns.
        patience = self._context.interval * 3
        for one in workers:
            if one.name in living or one.idle < patience:
                continue
            if one.pending:
                await self._claim(stream, min_idle=patience / 2, after=START, owner=one.name)
            elif await leave(server, self._sub, consumer=one.name, retries=retries):
                self._context.events.emit(ConsumerRemoved(stream.key, self._sub.group, one.name))

    async def _claim(
        self, stream: ConsumerStream, *, min_idle: timedelta, after: str, owner: str = ""
    ) -> str:
        """Claim idle entries of one consumer, or of all others, as room allows; the next cursor, empty at the end."""
        while after and self._executor.room > 0:
            asked = self._consumer.asked()
            recovered = await take_idle(
                self._context.server,
                self._sub,
                retries=stream.retries,
                min_idle=min_idle,
                limit=min(PAGE, self._executor.room),
                owner=owner,
                after=after,
            )
            if number := await self._consumer.redeliver(stream, recovered, asked):
                self._executor.counts.reclaimed += number
                self._context.events.emit(Reclaimed(self._sub.stream, self._sub.group, number, owner))
            after = recovered.next
        return after

    async def _recover_own(self, stream: ConsumerStream) -> None:
        """Recover idle entries under our own name: a read that timed out may have reached the server after all."""
        after = START
        while after and self._executor.room > 0:
            limit = self._executor.room
            after = await self._consumer.recover(stream, limit=limit, after=after, min_idle=self._lease)
