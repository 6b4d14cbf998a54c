"""Reads one stream for one group, and keeps the buffer of an executor filled, within its bounds.

What a connection lost on its way here is recovered afterwards: before it reads on, a consumer compares what the server
has pending under its name with what it has in flight. That is the only way to find entries that were delivered into
a reply which never came, while their owner lives and renews the rest.
"""

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from math import inf
from typing import Final, NamedTuple, final

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
"""Seconds without a read after which a group may have been destroyed and created anew, unnoticed."""
BACKOFF: Final = Backoff(0.05, 2.0)
FIRST_ENTRIES: Final = 8
FEW: Final = 16
MOST_HALVINGS: Final = 8
"""A page of entries halved so often is one entry, and one is always asked for."""


@final
class PageSize:
    """How much is asked for at once of a server that may be a slow link away.

    Half as much after each call that had no answer in time, and twice as much after each that brought something. A
    reply that is given up was work for nothing: the server counted the deliveries, and no other worker finds the entries idle.
    """

    def __init__(self) -> None:
        self._halvings = 0

    @property
    def size(self) -> int:
        """How many bytes to ask for, about."""
        return MOST_BYTES >> self._halvings

    def of(self, limit: int) -> int:
        """How many entries to ask for, where ``limit`` would be welcome."""
        return max(1, limit >> self._halvings)

    def halve(self) -> None:
        """There was no answer."""
        self._halvings = min(self._halvings + 1, MOST_HALVINGS)

    def double(self) -> None:
        """There was one, with something in it."""
        self._halvings = max(0, self._halvings - 1)


class ReadRequest(NamedTuple):
    """When entries were asked for: from then on the server may deliver, whenever this process comes to read of it.

    Attributes:
        at: The time on the monotonic clock.
        handovers: How often another server had come to serve their stream.
    """

    at: float
    handovers: int


class StreamConsumer:
    """One stream, read by a task of its own for one handler.

    Attributes:
        subscription: What it reads.
        main: The stream.
        retries: The retry stream of its group.
        streams: Both.
        paused: Whether it is to read nothing.
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
        # How large entries are is not known before the first has come: a few of them must fit.
        self._entry_bytes = handler.prefetch_bytes // FIRST_ENTRIES
        self._doubtful = True
        self._page = PageSize()
        self._read_at = -inf
        self._asking = 0
        self._after_pause: list[Entry] = []

    @property
    def is_quiet(self) -> bool:
        """Whether it is paused, asks for nothing, and nothing is in flight any more that came after it was paused."""
        self._after_pause = [
            entry for entry in self._after_pause if entry.state in (QUEUED, RUNNING, WAITING, HANDLED)
        ]
        return self.paused and not self._asking and not self._after_pause

    def doubt(self) -> None:
        """Something was lost on the way: compare before reading on."""
        self._doubtful = True

    async def run(self) -> None:
        """Read, for ever; a server that is away is waited for."""
        failures = 0
        try:
            while True:
                try:
                    if self._doubtful:
                        # Not afterwards: what is lost by then is another doubt.
                        self._doubtful = False
                        await self._recover_all()
                    await self._read()
                    failures = 0
                except ServerError as error:
                    self._doubtful = True
                    self.context.events.emit(Troubled(self.subscription.stream, error))
                    # Not all workers of a fleet at the same moment.
                    failures += 1
                    await asyncio.sleep(BACKOFF.pause(failures, random.random()))  # noqa: S311 - no cryptography
        finally:
            if self._preparing is not None:
                self._preparing.cancel()
                await asyncio.gather(self._preparing, return_exceptions=True)

    async def close(self) -> None:
        """Close what it reads through."""
        await self._reader.close()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Around every call that may bring entries, and taking them in: so long nothing is quiet here."""
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1

    def asked(self) -> ReadRequest:
        """Note that entries are asked for now."""
        return ReadRequest(time.monotonic(), self.context.server.handovers)

    async def _read(self) -> None:
        """One read, as soon as there is room."""
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
        """A read was answered with an error."""
        sub = self.subscription
        if problem.kind is FaultKind.WRONG_TYPE:
            raise NotFound(f"{sub.stream} is not a stream any more", "Another client put another type there.")
        if problem.kind is not FaultKind.MISSING and "UNBLOCKED" not in problem.reason:
            raise problem.error(f"stream {sub.stream}")
        await self._groups.restore(self.streams)

    async def _wanted(self) -> int:
        """How many entries to ask for; waits while there is no room for any."""
        handler, executor = self.executor.handler, self.executor
        while True:
            self._room.clear()
            room = executor.room_for(self._queue)
            # Fewer than half of its share of what may be ahead are not worth a round trip.
            half = -(-executor.ahead_of(self._queue) // 2)
            if not self.paused and room >= half:
                most = handler.prefetch_bytes // max(1, self._entry_bytes)
                held = sum(len(stream.in_flight) for stream in self.streams)
                if most - held > 0 or not held:
                    # While one half is handled, the server takes the business keys of the other.
                    page = MOST_AT_ONCE if handler.guard is None else half
                    return max(1, min(room, most - held, page))
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1 if self.paused else 1.0):
                    await self._room.wait()

    def _receive(self, stream: ConsumerStream, rows: Sequence[RawEntry], asked: ReadRequest) -> list[Entry]:
        """Have entries in flight that were delivered for the first time."""
        if not stream.in_flight.keys().isdisjoint([raw_id for raw_id, _ in rows]):
            # The group was set back, or is another one: what is in flight is not handled a second time beside the first.
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
        """Have entries handled that are in flight for the first time."""
        self._weigh(entries[-1])
        # One after the other, so that they keep their order.
        if self._preparing is not None:
            await self._preparing
            self._preparing = None
        if self._needs_preparing(entries):
            # The next read is under way by now.
            self._queue.coming = len(entries)
            self._preparing = asyncio.create_task(self._prepare_and_enqueue(entries))
            return
        self._queue.fresh.extend(entries)
        self.executor.wake()
        if len(entries) < FEW:
            # They are begun before the next read is written; of many, the server may already look for more.
            await asyncio.sleep(0)

    def _needs_preparing(self, entries: Sequence[Entry]) -> bool:
        """Whether an entry was another one before, has a payload, or has to own its business key."""
        return self.executor.handler.guard is not None or any(
            PAYLOAD in entry.raw or says_origin(entry) for entry in entries
        )

    async def _prepare(self, entries: list[Entry]) -> list[Entry]:
        """Look up origins, fetch payloads and claim keys, each in a round trip; those that can and may be handled."""
        if not entries or not self._needs_preparing(entries):
            return entries
        await self._dedup.look_up_origins(entries)
        missing = await fetch(self.context, entries)
        for entry in missing:
            # Where an earlier try has taken its business key, that is freed; without its payload it may not be told.
            with suppress(Exception):
                entry.idempotency_key = self._dedup.key_of(entry)
            await self.executor.fail(entry, PayloadMissing(f"there is no key {entry.payload_key}"))
        kept = [entry for entry in entries if entry not in missing] if missing else entries
        return await self._dedup.claim_keys(kept) if kept and self.executor.handler.guard else kept

    async def _prepare_and_enqueue(self, entries: list[Entry]) -> None:
        try:
            self._queue.fresh.extend(await self._prepare(entries))
            self.executor.wake()
        except BaseException:
            # Those that are not pending are nowhere else.
            self.executor.counts.noack_lost += sum(entry.noack for entry in entries)
            raise
        finally:
            self._queue.coming = 0

    async def redeliver(
        self, stream: ConsumerStream, recovered: RecoveredPage, asked: ReadRequest, *, ours: bool = False
    ) -> int:
        """Have entries handled that were delivered before, to us or to others; how many of them are new here.

        Args:
            stream: Where they came from.
            recovered: They, as the server told them.
            asked: When they were asked for: from then on they may have been ours.
            ours: Whether they were pending under our own name, and not in flight.
        """
        sub = self.subscription
        for entry_id, deliveries in recovered.gone:
            self.context.events.emit(Lost(sub.stream, sub.group, entry_id.decode(), deliveries))
        # Deliveries that started no handler: this one, and under a name of our own the one that never came here.
        no_starts = 2 if ours and sub.consumer.startswith(WORKER_PREFIX) else 1
        entries = []
        for taken in recovered.entries:
            if stream.holds(taken.id, taken.fields):
                held = stream.in_flight[taken.id]
                # Nobody else had it: it was ours all the time.
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
        """Take what is pending under our name and not in flight, as far as there is room."""
        for stream in self.streams:
            after = START
            while after:
                after = await self.recover(stream, limit=await self._wanted(), after=after)

    async def recover(
        self, stream: ConsumerStream, *, limit: int, after: str, min_idle: timedelta = timedelta()
    ) -> str:
        """Take some of what is pending under our name and not in flight; what comes next, nothing at the end.

        Args:
            stream: Where from.
            limit: How many at most.
            after: What the last call said comes next.
            min_idle: For how long they must have been idle.

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
                    limit=self._page.of(min(PAGE, limit)),
                    min_idle=min_idle,
                    after=after,
                    most_bytes=self._page.size,
                )
            except Unreachable:
                self._page.halve()
                raise
            if recovered.entries:
                self._page.double()
            if number := await self.redeliver(stream, recovered, asked, ours=True):
                self.context.events.emit(Adopted(sub.stream, sub.group, number))
        return recovered.next

    def _weigh(self, entry: Entry) -> None:
        """Learn how large entries are, from one of each read."""
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
