"""Reads one stream for one group, and keeps the executor's buffer filled within its bounds.

Entries of a reply that was lost are recovered: before it reads on, a consumer compares the entries pending under its name
with those in flight. There is no other way to find them, as their owner is alive and renews the leases of the rest.
"""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from math import inf
from typing import Final, NamedTuple

from msgspec.structs import replace

from streamops.errors import NotFound, ServerError, Unreachable
from streamops.model.schedules import Backoff
from streamops.model.text import name_bytes
from streamops.runtime.context import WorkerContext
from streamops.runtime.dedup import Deduplicator, says_origin
from streamops.runtime.entry import HANDLED, PAYLOAD, QUEUED, RUNNING, WAITING, ConsumerStream, Entry
from streamops.runtime.events import Adopted, Lost, Troubled
from streamops.runtime.executor import Executor
from streamops.runtime.groups import Groups
from streamops.runtime.handlers import Handler
from streamops.runtime.payloads import fetch
from streamops.runtime.retry import PayloadMissing
from streamops.wire.consuming.claiming import MOST_BYTES, START, RecoveredPage, recover_own
from streamops.wire.consuming.entries import RawEntry, read_new
from streamops.wire.consuming.heartbeats import WORKER_PREFIX
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.server import Server

MOST_AT_ONCE: Final = 1000
PAGE: Final = 200
UNSEEN: Final = 0.01
"""Seconds without a read after which a group may have been destroyed and created again, unnoticed."""
BACKOFF: Final = Backoff(0.05, 2.0)
FIRST_ENTRIES: Final = 8
FEW: Final = 16
MOST_HALVINGS: Final = 8
"""After so many halvings a page of ``PAGE`` is one entry."""


class ReadRequest(NamedTuple):
    """When entries were requested: the server may have delivered them at any time since.

    Attributes:
        at: The time on the monotonic clock.
        handovers: ``Server.handovers`` at that time.
    """

    at: float
    handovers: int


class StreamConsumer:
    """Reads one stream and its retry stream for one handler.

    Attributes:
        subscription: The stream, group and consumer name.
        main: The stream.
        retries: The retry stream of its group.
        streams: Both.
        paused: Whether it reads nothing for now.
    """

    def __init__(
        self,
        stream: str,
        weight: int,
        context: WorkerContext,
        executor: Executor,
        *,
        groups: Groups,
        dedup: Deduplicator,
    ) -> None:
        handler = executor.handler
        self.context = context
        self.executor = executor
        self.subscription = _subscription_of(stream, handler, context)
        self._room = asyncio.Event()
        shared = (self.subscription, context, handler.lease, executor.counts, self._room)
        self.main, self.retries = (
            ConsumerStream(*shared, retries=False),
            ConsumerStream(*shared, retries=True),
        )
        self.streams = (self.main, self.retries)
        self.paused = False
        options = context.server.options
        # The connection waits longer than its reads, so that a dead one is noticed.
        self._reader = Server(
            replace(options, timeout=options.timeout + context.block), tracker=context.server.tracker
        )
        self._groups = groups
        self._dedup = dedup
        self._queue = executor.add_queue(self.streams, weight, self._room)
        self._preparing: asyncio.Task[None] | None = None
        # The size of entries is not known before the first one: a few of them must fit.
        self._entry_bytes = handler.prefetch_bytes // FIRST_ENTRIES
        self._doubtful = True
        # A page is half as large after each timeout, twice as large after each reply with entries. A reply that comes too
        # late does harm: the server has counted the deliveries, and the entries are not idle for other workers.
        self._halvings = 0
        self._read_at = -inf
        self._asking = 0
        self._after_pause: list[Entry] = []

    @property
    def is_quiet(self) -> bool:
        """Whether it is paused, no request is under way, and no entry is in flight that came after the pause."""
        self._after_pause = [
            entry for entry in self._after_pause if entry.state in (QUEUED, RUNNING, WAITING, HANDLED)
        ]
        return self.paused and not self.is_reading and not self._after_pause

    @property
    def is_reading(self) -> bool:
        """Whether a request is under way that may bring entries."""
        return self._asking > 0

    def doubt(self) -> None:
        """Compare pending entries with those in flight before reading on: a reply may have been lost."""
        self._doubtful = True

    async def run(self) -> None:
        """Read until cancelled; wait for a server that does not answer."""
        failures = 0
        try:
            while True:
                try:
                    if self._doubtful:
                        # Before, not after: a reply lost meanwhile is another doubt.
                        self._doubtful = False
                        await self._recover_all()
                    await self._read()
                    failures = 0
                except ServerError as error:
                    self._doubtful = True
                    self.context.events.emit(Troubled(self.subscription.stream, error))
                    # With jitter, so that workers do not come back all at the same moment.
                    failures += 1
                    await asyncio.sleep(BACKOFF.pause(failures, random.random()))  # noqa: S311 - no cryptography
        finally:
            if self._preparing is not None:
                self._preparing.cancel()
                await asyncio.gather(self._preparing, return_exceptions=True)

    async def close(self) -> None:
        """Close the read connection."""
        await self._reader.close()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Hold around every call that may bring entries, until they are in flight: the consumer is not quiet meanwhile."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    def asked(self) -> ReadRequest:
        """The time and handover count for a request that is sent now."""
        return ReadRequest(time.monotonic(), self.context.server.handovers)

    async def _read(self) -> None:
        """Wait for room, then read once."""
        count = await self._wanted()
        with self.asking():
            if time.monotonic() - self._read_at > UNSEEN:
                await self._groups.restore_held(self.streams)
            asked = self.asked()
            answer = await read_new(self._reader, self.subscription, count, self.context.block)
            self._read_at = time.monotonic()
            if isinstance(answer, Fault):
                await self._mend(answer)
                return
            arrived = []
            for key, rows in answer:
                arrived += self._receive(self.retries if key == self._retries_key else self.main, rows, asked)
            if arrived:
                await self._pass_on(arrived)

    async def _mend(self, problem: Fault) -> None:
        """Restore the groups if a read failed because they are missing; raise any other error."""
        sub = self.subscription
        if problem.kind is FaultKind.WRONG_TYPE:
            raise NotFound(f"{sub.stream} is not a stream any more", "Another client put another type there.")
        if problem.kind is not FaultKind.MISSING and "UNBLOCKED" not in problem.reason:
            raise problem.error(f"stream {sub.stream}")
        await self._groups.restore(self.streams)

    async def _wanted(self) -> int:
        """How many entries to read; waits until there is room."""
        handler, executor = self.executor.handler, self.executor
        while True:
            self._room.clear()
            room = executor.room_for(self._queue)
            # Fewer than a quarter of its share of the read-ahead are not worth a round trip. If it waited for more, those that
            # are left would be handled before the next ones arrive.
            ahead = executor.ahead_of(self._queue)
            if not self.paused and room >= ahead / 4:
                most = handler.prefetch_bytes // max(1, self._entry_bytes)
                held = sum(len(stream.in_flight) for stream in self.streams)
                if most - held > 0 or not held:
                    # While one half is handled, the business keys of the other half are claimed.
                    page = MOST_AT_ONCE if handler.guard is None else -(-ahead // 2)
                    return max(1, min(room, most - held, page))
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1 if self.paused else 1.0):
                    await self._room.wait()

    def _receive(self, stream: ConsumerStream, rows: Sequence[RawEntry], asked: ReadRequest) -> list[Entry]:
        """Put entries in flight that were delivered for the first time."""
        if not stream.in_flight.keys().isdisjoint([raw_id for raw_id, _ in rows]):
            # The group was set back, or is another one: an entry in flight is not handled twice at the same time.
            rows = [row for row in rows if not stream.holds(*row)]
        noack = self.subscription.noack
        entries = stream.receive(rows, *asked, noack=noack)
        most = self.executor.handler.retry.max_attempts
        if stream.retries or (most == 1 and not noack):
            for entry in entries:
                entry.number(most)
        if entries:
            stream.last_seen = entries[-1].raw_id
        if self.paused:
            self._after_pause += entries
        return entries

    async def _pass_on(self, entries: list[Entry]) -> None:
        """Prepare entries that were delivered for the first time, and enqueue them."""
        self._weigh(entries[-1])
        # Batches are prepared one after the other, so that entries keep their order.
        if self._preparing is not None:
            await self._preparing
            self._preparing = None
        if self._needs_preparing(entries):
            # In a task, so that the next read goes out meanwhile.
            self._queue.coming = len(entries)
            self._preparing = asyncio.create_task(self._prepare_and_enqueue(entries))
            return
        self._queue.fresh.extend(entries)
        self.executor.wake()
        if len(entries) < FEW:
            # Few entries start before the next read is sent; with many, the server may read on at the same time.
            await asyncio.sleep(0)

    def _needs_preparing(self, entries: Sequence[Entry]) -> bool:
        """Whether an entry was replayed, has a payload, or needs its business key."""
        return self.executor.handler.guard is not None or any(
            PAYLOAD in entry.raw or says_origin(entry) for entry in entries
        )

    async def _prepare(self, entries: list[Entry]) -> list[Entry]:
        """Look up origins, fetch payloads and claim keys, each in one round trip; the entries that may be handled."""
        if not entries or not self._needs_preparing(entries):
            return entries
        await self._dedup.look_up_origins(entries)
        missing = await fetch(self.context, entries)
        for entry in missing:
            # A business key that an earlier try has taken is freed; it may not be known without the payload.
            with suppress(Exception):
                entry.idempotency_key = self._dedup.key_of(entry)
            await self.executor.fail(entry, PayloadMissing(f"there is no key {entry.payload_key}"))
        kept = [entry for entry in entries if entry not in missing] if missing else entries
        return await self._dedup.claim_keys(kept) if kept and self.executor.handler.guard else kept

    async def _prepare_and_enqueue(self, entries: list[Entry]) -> None:
        try:
            self._queue.fresh.extend(await self._prepare(entries))
            self.executor.wake()
        finally:
            self._queue.coming = 0

    async def redeliver(
        self, stream: ConsumerStream, recovered: RecoveredPage, asked: ReadRequest, *, ours: bool = False
    ) -> int:
        """Enqueue entries that were delivered before, to this consumer or others; how many were not in flight here.

        Args:
            stream: The stream or the retry stream.
            recovered: The entries.
            asked: When they were requested.
            ours: Whether they were pending under our own name, and not in flight.
        """
        sub = self.subscription
        for entry_id, deliveries in recovered.gone:
            self.context.events.emit(Lost(sub.stream, sub.group, entry_id.decode(), deliveries))
        # Deliveries that started no handler: this one, and, under a generated name, the one whose reply was lost.
        no_starts = 2 if ours and sub.consumer.startswith(WORKER_PREFIX) else 1
        entries = []
        for taken in recovered.entries:
            if stream.holds(taken.id, taken.fields):
                held = stream.in_flight[taken.id]
                # It was never another consumer's.
                held.leased_at = asked.at
                held.lost = False
                continue
            (entry,) = stream.receive([(taken.id, taken.fields)], *asked)
            entry.deliveries, entry.marks = taken.deliveries, taken.marks
            entry.number(self.executor.handler.retry.max_attempts)
            entry.needs_mark = entry.one_start or taken.marks > 0 or taken.deliveries > no_starts
            entries.append(entry)
        if self.paused:
            self._after_pause += entries
        number = len(entries)
        self.executor.enqueue(await self._prepare(entries))
        return number

    async def _recover_all(self) -> None:
        """Recover all entries that are pending under our name and not in flight, as room allows."""
        for stream in self.streams:
            after = START
            while after:
                after = await self.recover(stream, limit=await self._wanted(), after=after)

    async def recover(
        self, stream: ConsumerStream, *, limit: int, after: str, min_idle: timedelta = timedelta()
    ) -> str:
        """Recover some entries that are pending under our name and not in flight; the next cursor, empty at the end.

        Args:
            stream: The stream or the retry stream.
            limit: How many at most.
            after: The cursor that the last call returned.
            min_idle: The least idle time.

        Raises:
            ServerError: The server did not answer, or refused.
        """
        with self.asking():
            sub, asked = self.subscription, self.asked()
            try:
                recovered = await recover_own(
                    self.context.server,
                    sub,
                    retries=stream.retries,
                    in_flight=stream.in_flight,
                    limit=max(1, min(PAGE, limit) >> self._halvings),
                    min_idle=min_idle,
                    after=after,
                    most_bytes=MOST_BYTES >> self._halvings,
                )
            except Unreachable:
                self._halvings = min(self._halvings + 1, MOST_HALVINGS)
                raise
            if recovered.entries:
                self._halvings = max(0, self._halvings - 1)
            if number := await self.redeliver(stream, recovered, asked, ours=True):
                self.context.events.emit(Adopted(sub.stream, sub.group, number))
        return recovered.next

    def _weigh(self, entry: Entry) -> None:
        """Update the estimate of an entry's size, from one entry of each read."""
        size = sum(map(len, entry.raw)) + len(entry.payload or b"")
        larger = size - self._entry_bytes
        self._entry_bytes += larger if larger >= 0 else larger // 4

    @property
    def _retries_key(self) -> bytes:
        return name_bytes(self.subscription.retries)


def _subscription_of(stream: str, handler: Handler, context: WorkerContext) -> Subscription:
    return Subscription(
        stream,
        handler.group,
        context.worker_id,
        dead_letters=context.names.dead_letters.get(stream, ""),
        delayed=context.names.delayed.get(stream, ""),
        guarded=handler.guard.ttl if handler.guard else timedelta(),
        noack=handler.noack,
    )
