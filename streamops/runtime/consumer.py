"""Reads one stream for one group, and keeps the buffer of a crew filled, within its bounds.

What a connection lost on its way here is adopted afterwards: before it reads on, a source compares what the server
has pending under its name with what it has in hand. That is the only way to find entries that were delivered into
a reply which never came, while their owner lives and renews the rest.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import Final, NamedTuple

from streamops.errors import NotFound, ServerError, Unreachable
from streamops.model.backoff import Backoff
from streamops.model.names import name_bytes
from streamops.runtime.buffer import Queue
from streamops.runtime.dedup import Deduplicator
from streamops.runtime.entry import Entry, Side
from streamops.runtime.events import Adopted, Event, Lost, Troubled
from streamops.runtime.executor import Executor
from streamops.runtime.groups import Groups
from streamops.runtime.page_size import PageSize
from streamops.wire.consuming.hearts import WORKER_PREFIX
from streamops.wire.consuming.reading import RawEntry, read_new
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.consuming.taking import START, Taken, Takings, recover_own
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.server import Server

BLOCK: Final = timedelta(seconds=2)
"""How long a read waits for entries; the connection waits longer, so that a dead one is noticed."""
MOST_AT_ONCE: Final = 1000
PAGE: Final = 200
UNSEEN: Final = 0.01
"""Seconds without a read after which a group may have been destroyed and created anew, and nothing told of it."""
BACKOFF: Final = Backoff(0.05, 2.0)
FIRST_ENTRIES: Final = 8
FEW: Final = 16


class Asked(NamedTuple):
    """When entries were asked for.

    Attributes:
        at: The time on the event loop's clock.
        handovers: How often another server had come to serve their stream.
    """

    at: float
    handovers: int


class Source:
    """One subscription, read by a task of its own.

    Attributes:
        subscription: What it reads.
        stream, retries: Its two sides.
        groups: The groups that it reads for.
        paused: Whether it reads nothing for the time being.
    """

    def __init__(
        self,
        reader: Server,
        server: Server,
        subscription: Subscription,
        executor: Executor,
        queue: Queue,
        *,
        now_ms: Callable[[], float],
        steady: Callable[[], bool],
        emit: Callable[[Event], None],
        screening: Deduplicator,
    ) -> None:
        self.subscription = subscription
        self.stream = Side(subscription, retries=False, now_ms=now_ms)
        self.retries = Side(subscription, retries=True, now_ms=now_ms)
        lease = executor.handler.lease
        self.groups = Groups(server, subscription, self.sides, lease=lease, steady=steady, emit=emit)
        self.paused = False
        self._reader = reader
        self._server = server
        self._executor = executor
        self._queue = queue
        self._emit = emit
        self._screening = screening
        self._passing: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        # How large entries are is not known before the first has come: a few of them must fit.
        self._entry_bytes = executor.handler.prefetch_bytes // FIRST_ENTRIES
        self._doubtful = True
        self._page_size = PageSize()
        self._read_at = -inf

    def asking(self) -> Asked:
        """Note that entries are asked for: from here on the server may deliver, whenever this process comes to read of it."""
        return Asked(asyncio.get_running_loop().time(), self._server.handovers)

    @property
    def sides(self) -> tuple[Side, Side]:
        """The stream and the retry stream."""
        return self.stream, self.retries

    def hungry(self) -> None:
        """There may be room again."""
        self._room.set()

    def doubt(self) -> None:
        """Something was lost on the way: compare before reading on."""
        self._doubtful = True

    async def run(self) -> None:
        """Read, for ever; a server that is away is waited for."""
        try:
            await self._keep_reading()
        finally:
            if self._passing is not None:
                self._passing.cancel()
                await asyncio.gather(self._passing, return_exceptions=True)

    async def _keep_reading(self) -> None:
        failures = 0
        while True:
            try:
                if self._doubtful:
                    # Not afterwards: what is lost meanwhile is another doubt.
                    self._doubtful = False
                    await self._recover_own()
                await self._read()
                failures = 0
            except ServerError as error:
                self._doubtful = True
                self._emit(Troubled(self.subscription.stream, error))
                # Not all workers of a fleet at the same moment.
                failures += 1
                await asyncio.sleep(BACKOFF.pause(failures, random.random()))  # noqa: S311 - no cryptography

    async def _read(self) -> None:
        """One read, as soon as there is room."""
        count = await self._wanted()
        now = asyncio.get_running_loop().time
        if now() - self._read_at > UNSEEN:
            await self.groups.restore_held()
        asked = self.asking()
        answer = await read_new(self._reader, self.subscription, count, BLOCK)
        self._read_at = now()
        if isinstance(answer, Fault):
            await self._mend(answer)
            return
        arrived = []
        for key, rows in answer:
            side = self.retries if key == self._retries_key else self.stream
            arrived += self._receive(side, rows, asked)
        if arrived:
            await self._pass_on(arrived)

    async def _pass_on(self, entries: list[Entry]) -> None:
        """Have entries handled that are in hand for the first time."""
        self._weigh(entries[-1])
        # One after the other, so that they keep their order.
        if self._passing is not None:
            await self._passing
            self._passing = None
        if self._screening.is_needed(entries):
            # The next read is under way meanwhile.
            self._queue.coming = len(entries)
            self._passing = asyncio.create_task(self._screen(entries))
            return
        self._enqueue(entries)
        if len(entries) < FEW:
            # They are begun before the next read is written; of many, the server may already look for more.
            await asyncio.sleep(0)

    async def _screen(self, entries: list[Entry]) -> None:
        try:
            self._enqueue(await self._screening.screen(entries))
        finally:
            self._queue.coming = 0

    def _enqueue(self, entries: Iterable[Entry]) -> None:
        self._queue.fresh.extend(entries)
        self._executor.wake()

    async def _wanted(self) -> int:
        """How many entries to ask for; waits while there is no room for any."""
        while True:
            self._room.clear()
            room = self._executor.room_for(self._queue)
            # Fewer than half of its share of what may be ahead are not worth a round trip.
            if not self.paused and room > self._executor.ahead_of(self._queue) // 2:
                most = self._executor.handler.prefetch_bytes // max(1, self._entry_bytes)
                held = sum(len(side.in_flight) for side in self.sides)
                if most - held > 0 or not held:
                    return max(1, min(room, most - held, MOST_AT_ONCE))
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1 if self.paused else 1.0):
                    await self._room.wait()

    def _receive(self, side: Side, rows: Sequence[RawEntry], asked: Asked) -> list[Entry]:
        """Take entries in hand that were delivered for the first time."""
        if not rows:
            return []
        if not side.in_flight.keys().isdisjoint([raw_id for raw_id, _ in rows]):
            # The group was set back, or is another one: what is in hand is not handled a second time beside the first.
            rows = [row for row in rows if not side.holds(*row)]
        entries = side.receive_all(rows, *asked)
        if side.retries or self._executor.handler.retry.most == 1:
            for entry in entries:
                self._number(entry)
        if entries:
            side.last_seen = entries[-1].raw_id
        return entries

    async def deliver_again(self, side: Side, takings: Takings, asked: Asked, *, ours: bool = False) -> int:
        """Take entries that were delivered before, to us or to others; how many of them are new here.

        Args:
            side: Where they came from.
            takings: They.
            asked: When they were asked for: from then on they may have been ours.
            ours: Whether they were pending under our own name, and not in hand.
        """
        for entry_id, deliveries in takings.gone:
            self._emit(Lost(self.subscription.stream, self.subscription.group, entry_id.decode(), deliveries))
        # This delivery is counted; under a name that was nobody else's, the one that never came here is no start either.
        unstarted = 2 if ours and self.subscription.consumer.startswith(WORKER_PREFIX) else 1
        entries = []
        for taken in takings.entries:
            if side.holds(taken.id, taken.fields):
                held = side.in_flight[taken.id]
                # Nobody else had it: it was ours all the time.
                held.leased_at = asked.at
                held.lost = False
                continue
            entries.append(self._returned(side, taken, asked, unstarted))
        if self._screening.is_needed(entries):
            entries = await self._screening.screen(entries)
        self._enqueue(entry for entry in entries if not entry.may_have_started)
        self.enqueue_again(entry for entry in entries if entry.may_have_started)
        return len(entries)

    def enqueue_again(self, entries: Iterable[Entry]) -> None:
        """Have entries handled that were delivered before: one at a time where they have been tried again already."""
        for entry in entries:
            entry.again = True
            entry.suspect = entry.marks > 0 or entry.attempt + 1 >= self._executor.handler.retry.most
            (self._executor.buffer.suspect if entry.suspect else self._queue.again).append(entry)
        self._executor.wake()

    def _returned(self, side: Side, taken: Taken, asked: Asked, unstarted: int) -> Entry:
        entry = side.receive(taken.id, taken.fields, *asked)
        entry.deliveries = taken.deliveries
        entry.marks = taken.marks
        self._number(entry)
        entry.again = entry.sole or taken.marks > 0 or taken.deliveries > unstarted
        return entry

    def _number(self, entry: Entry) -> None:
        """Say which start of its handler was the last, by its marks; of one that had none, which will be the first."""
        base = entry.base_attempt()
        entry.again = entry.sole = base >= self._executor.handler.retry.most
        entry.attempt = base + max(0, entry.marks - entry.sole)

    async def _recover_own(self) -> None:
        """Take what is pending under our name and not in hand, as far as there is room."""
        for side in self.sides:
            after = START
            while after:
                after = await self.recover_own(side, limit=await self._wanted(), after=after)

    async def recover_own(
        self, side: Side, *, limit: int, after: str, min_idle: timedelta = timedelta()
    ) -> str:
        """Take some of what is pending under our name and not in hand; what comes next, nothing at the end.

        Args:
            side: Where from.
            limit: How many at most.
            after: What the last call said comes next.
            min_idle: For how long they must have been idle.

        Raises:
            ServerError: The server did not answer, or refused.
        """
        sub, asked = self.subscription, self.asking()
        try:
            takings = await recover_own(
                self._server,
                sub,
                retries=side.retries,
                in_flight=side.in_flight,
                limit=self._page_size.of(min(PAGE, limit)),
                min_idle=min_idle,
                after=after,
                most_bytes=self._page_size.size,
            )
        except Unreachable:
            self._page_size.halve()
            raise
        if takings.entries:
            self._page_size.double()
        if number := await self.deliver_again(side, takings, asked, ours=True):
            self._emit(Adopted(sub.stream, sub.group, number))
        return takings.next

    async def _mend(self, problem: Fault) -> None:
        """A read was answered with an error."""
        sub = self.subscription
        if problem.kind is FaultKind.WRONG_TYPE:
            raise NotFound(f"{sub.stream} is not a stream any more", "Somebody put another type there.")
        if problem.kind is not FaultKind.MISSING and "UNBLOCKED" not in problem.reason:
            raise problem.error(f"stream {sub.stream}")
        await self.groups.restore()

    def _weigh(self, entry: Entry) -> None:
        """Learn how large entries are, from one of each read."""
        size = sum(map(len, entry.raw)) + len(entry.payload or b"")
        self._entry_bytes += (
            (size - self._entry_bytes) // 4 if size < self._entry_bytes else size - self._entry_bytes
        )

    @property
    def _retries_key(self) -> bytes:
        return name_bytes(self.subscription.retries)
