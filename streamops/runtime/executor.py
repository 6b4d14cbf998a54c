"""The slots of one handler: long-lived tasks that take entries and handle them.

A task a message would cost more than most handlers do. A slot that has nothing to do rests; whoever takes an entry
and leaves others behind wakes one more, so that as many slots work as there is work for.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from math import ceil
from typing import Final

from streamops.errors import HandlerError
from streamops.runtime.buffer import Buffer, Queue
from streamops.runtime.calling import results_of
from streamops.runtime.counts import Counts
from streamops.runtime.entry import Entry
from streamops.runtime.handlers import BatchCall, Call, Handler
from streamops.runtime.retry import HOPELESS, HandlerTimeout, words

PATIENCE: Final = 0.01
"""Seconds after which a slot that never waits lets others have a turn."""
AHEAD: Final = 0.1
"""How many seconds' worth of work is read ahead."""
TOGETHER: Final = 100
"""How many entries of a batch are marked or settled at once; as many as one call to the server takes."""

NEVER: Final = float("inf")

Failed = Callable[[Entry, BaseException], Awaitable[None]]
Mark = Callable[[Entry], Awaitable[bool]]
"""Marks a start; whether it may go on: not where somebody else has the entry now, or it had its last start."""


class Slot:
    """One of the things a handler does at a time.

    Attributes:
        entries: What it handles now; empty while it rests.
        deadline: When that must be over, on the event loop's clock.
        overdue: Whether it was cut off for that.
    """

    __slots__ = ("deadline", "entries", "overdue", "task")

    def __init__(self) -> None:
        self.entries: Sequence[Entry] = ()
        self.deadline = NEVER
        self.overdue = False
        self.task: asyncio.Task[None] | None = None


class BatchFailed(HandlerError):
    """A call with many entries failed for one of them, and nobody knows for which."""


class Executor:
    """The slots of one handler.

    Attributes:
        handler: The handler.
        buffer: Where they take entries from.
        slots: The slots.
        tally: What they did.
        waiting: Entries that stay in hand until their next try; no more are read than the handler's prefetch.
    """

    def __init__(
        self,
        handler: Handler,
        call: Call | None,
        batch_call: BatchCall | None,
        *,
        failed: Failed,
        mark: Mark,
        hungry: Callable[[], None],
    ) -> None:
        self.handler = handler
        self.buffer = Buffer()
        self.slots = [Slot() for _ in range(handler.concurrency)]
        self.counts = Counts()
        self.waiting: dict[Entry, asyncio.TimerHandle] = {}
        self._call = call
        self._batch_call = batch_call
        self._failed = failed
        self._mark = mark
        self._hungry = hungry
        self._resting: list[asyncio.Future[None]] = []
        self._waking = False
        self._begun = 0
        self._closed = False
        self._timeout = handler.timeout.total_seconds() if handler.timeout else None

    def start(self) -> list[asyncio.Task[None]]:
        """Start the slots, and the sweeper where calls are limited in time."""
        work = self._batches if self._batch_call else self._singles
        for number, slot in enumerate(self.slots):
            slot.task = asyncio.create_task(work(slot), name=f"{self.handler.name}-{number}")
        tasks = [slot.task for slot in self.slots if slot.task]
        if self._timeout is not None:
            tasks.append(
                asyncio.create_task(self._sweep(self._timeout), name=f"{self.handler.name}-timeouts")
            )
        return tasks

    @property
    def busy(self) -> int:
        """How many slots handle something."""
        return sum(1 for slot in self.slots if slot.entries)

    @property
    def ahead(self) -> int:
        """How many entries are worth reading ahead: what is handled in a moment, within the handler's limit."""
        per_slot = AHEAD / self.counts.durations.recent
        return max(
            1, min(self.handler.prefetch, int(self.handler.concurrency * self.handler.batch * per_slot))
        )

    @property
    def room(self) -> int:
        """How many more entries may be read now; may be negative."""
        if self._is_laden:
            return 0
        return len(self._resting) * self.handler.batch + self.ahead - len(self.buffer)

    def room_for(self, queue: Queue) -> int:
        """How many more entries one stream may have read now: its share of the room, whatever the others have."""
        if self._is_laden:
            return 0
        resting = len(self._resting) * self.handler.batch
        return ceil(resting * self.buffer.share(queue)) + self.ahead_of(queue) - len(queue)

    @property
    def _is_laden(self) -> bool:
        """Whether as many entries wait for their next try as may be in hand ahead."""
        return len(self.waiting) >= self.handler.prefetch

    def ahead_of(self, queue: Queue) -> int:
        """How many entries of one stream are worth reading ahead."""
        return max(1, int(self.ahead * self.buffer.share(queue)))

    def wake(self) -> None:
        """There is something to take; a slot that was cancelled just now takes nothing more."""
        while self._resting and not self._waking:
            resting = self._resting.pop()
            if not resting.done():
                self._waking = True
                resting.set_result(None)

    def _wake_another(self) -> None:
        """Where there is more than one slot can do, have another one look."""
        if self.buffer.has_next():
            self.wake()

    def close(self) -> None:
        """Take nothing more."""
        self._closed = True
        self.buffer.clear()

    async def _singles(self, slot: Slot) -> None:  # noqa: C901 - the hottest loop there is: a call costs
        """Handle single entries, for ever."""
        now = asyncio.get_running_loop().time
        take, call, limit = self.buffer.take, self._call, self._timeout or NEVER
        observe = self.counts.observe
        assert call is not None  # noqa: S101 - a crew of single entries has it
        began = turn = now()
        while True:
            entry = take()
            if entry is None:
                self._hungry()
                await self._rest()
                began = turn = now()
                continue
            if self._resting and not self._waking:
                self._wake_another()
            slot.entries = (entry,)
            self._begun = mine = self._begun + 1
            if entry.again or entry.lost:
                allowed = await self._may_start(entry)
                began = now()
                if not allowed:
                    slot.entries = ()
                    continue
            slot.deadline = began + limit
            try:
                await call(entry)
            except BaseException as error:  # noqa: BLE001 - a handler may raise anything
                await self._fell(slot, slot.entries, error)
            else:
                if slot.overdue:
                    self._was_cut_off(slot)
                entry.side.finish(entry)
            ended = now()
            observe(ended - began)
            slot.entries = ()
            slot.deadline = NEVER
            if entry.again:
                self._release(entry)
            # One reading of the clock serves two entries.
            began = ended
            if ended - turn > PATIENCE:
                turn = ended
                # Where another slot has begun something meanwhile this one has waited, and need not step back.
                if mine == self._begun:
                    await asyncio.sleep(0)
                    began = turn = now()

    async def _batches(self, slot: Slot) -> None:
        """Handle batches, for ever."""
        now = asyncio.get_running_loop().time
        while True:
            entries = await self._take_batch()
            if not entries or self._closed:
                self._hungry()
                await self._rest()
                continue
            self._wake_another()
            slot.entries = entries
            kept = await self._may_all_start(entries)
            began = now()
            slot.deadline = began + (self._timeout or NEVER)
            if kept:
                await self._handle_batch(slot, kept)
            ended = now()
            self.counts.observe_batch(ended - began, len(kept))
            slot.entries = ()
            slot.deadline = NEVER
            for entry in entries:
                if entry.again:
                    self._release(entry)
            await asyncio.sleep(0)

    async def _handle_batch(self, slot: Slot, entries: list[Entry]) -> None:
        """Call the handler with many entries; where it returns a list, each entry has its own result."""
        assert self._batch_call is not None  # noqa: S101 - a crew of batches has it
        try:
            results = results_of(await self._batch_call(entries), len(entries))
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything
            await self._fell(slot, entries, error)
            return
        slot.deadline = NEVER
        self._was_cut_off(slot)
        failures: list[tuple[Entry, BaseException]] = []
        for entry, result in zip(entries, results, strict=True):
            if isinstance(result, BaseException):
                failures.append((entry, result))
            else:
                entry.side.finish(entry)
        await self._fail_all(failures)

    async def _take_batch(self) -> list[Entry]:
        """As many entries as a call takes; fewer where no more come in time.

        What failed before is handled by itself: where a batch raises nobody knows which entry is to blame, and an
        innocent one must not be given up for another's sake.
        """
        first = self.buffer.apart.popleft() if self.buffer.apart else self.buffer.take()
        if first is None:
            return []
        entries = [first]
        if first is self.buffer.quarantined or first.attempt > 1:
            return entries
        loop = asyncio.get_running_loop()
        patience = loop.time() + self.handler.linger.total_seconds()
        while len(entries) < self.handler.batch:
            if self.buffer.suspect and self.buffer.quarantined is None:
                break
            entry = self.buffer.take()
            if entry is not None and entry.attempt > 1:
                self.buffer.apart.append(entry)
                self.wake()
            elif entry is not None:
                entries.append(entry)
            elif loop.time() < patience:
                self._hungry()
                await asyncio.sleep(min(PATIENCE, patience - loop.time()))
            else:
                break
        return entries

    async def _may_start(self, entry: Entry) -> bool:
        """Mark the start of an entry that was delivered before; what somebody else has by now is let go."""
        if entry.lost:
            entry.side.drop(entry)
        elif await self._mark(entry):
            return True
        self._release(entry)
        return False

    async def _may_all_start(self, entries: list[Entry]) -> list[Entry]:
        """Those that may start, of entries many of which may have been delivered before."""
        doubtful = [entry for entry in entries if entry.again or entry.lost]
        if not doubtful:
            return entries
        refused: set[Entry] = set()
        for at in range(0, len(doubtful), TOGETHER):
            some = doubtful[at : at + TOGETHER]
            allowed = await asyncio.gather(*map(self._may_start, some))
            refused.update(entry for entry, may in zip(some, allowed, strict=True) if not may)
        return [entry for entry in entries if entry not in refused]

    def _release(self, entry: Entry) -> None:
        """Where that was the one that is handled alone, let the next one have its turn."""
        if self.buffer.release(entry):
            self.wake()

    async def _fell(self, slot: Slot, entries: Sequence[Entry], error: BaseException) -> None:
        """A call raised, or was cut off for taking too long; what ends the slot itself, or the process, goes up."""
        slot.deadline = NEVER
        cut_off = self._was_cut_off(slot)
        ending = slot.task is not None and slot.task.cancelling() > 0
        if isinstance(error, asyncio.CancelledError) and not ending:
            # Otherwise the handler waited for something that was cancelled: that is its own failure.
            if cut_off:
                error = HandlerTimeout(f"longer than {self._timeout:g} s")
        elif not isinstance(error, Exception):
            raise error
        if len(entries) > 1:
            error = self._shared(error)
        await self._fail_all([(entry, error) for entry in entries])

    async def _fail_all(self, failures: Sequence[tuple[Entry, BaseException]]) -> None:
        """Settle failures; together, because those of a batch come together."""
        if len(failures) == 1:
            await self._failed(*failures[0])
            return
        for at in range(0, len(failures), TOGETHER):
            await asyncio.gather(*(self._failed(*failure) for failure in failures[at : at + TOGETHER]))

    def _shared(self, error: BaseException) -> BaseException:
        """What an error of many entries is for each: one that cannot be helped may be another's, unless it is tried alone."""
        retry = self.handler.retry
        hopeless = (*(kind for kind, _ in HOPELESS), *retry.hopeless)
        if isinstance(error, hopeless) and retry.most > 1 and retry.schedule is not None:
            return BatchFailed(words(error))
        return error

    @staticmethod
    def _was_cut_off(slot: Slot) -> bool:
        """Whether the sweeper cut the call off; that cancelled the call, and not the slot, whatever came of it."""
        overdue, slot.overdue = slot.overdue, False
        if overdue and slot.task:
            slot.task.uncancel()
        return overdue

    async def _rest(self) -> None:
        """Wait until there may be something to take; once the crew takes nothing more, that ends the slot."""
        if self._closed:
            raise asyncio.CancelledError
        resting = asyncio.get_running_loop().create_future()
        self._resting.append(resting)
        try:
            await resting
        finally:
            self._waking = False
            if resting in self._resting:
                self._resting.remove(resting)

    async def _sweep(self, limit: float) -> None:
        """Cut off calls that take too long; one timer for all slots, because one a call would cost more than it."""
        now = asyncio.get_running_loop().time
        pause = max(0.01, min(limit / 10, 1.0))
        while True:
            await asyncio.sleep(pause)
            instant = now()
            for slot in self.slots:
                if slot.deadline < instant and slot.task and not slot.overdue:
                    slot.overdue = True
                    slot.task.cancel()
