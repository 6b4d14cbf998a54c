"""The slots of one handler: long-lived tasks that take entries and call the handler.

One task an entry would cost more than most handlers do. A slot without work rests; a slot that takes an entry and leaves
others in the buffer wakes one more slot.
"""

import asyncio
from collections.abc import Iterable, Sequence
from math import ceil
from typing import Final

from streamops.errors import HandlerError
from streamops.runtime.buffer import Buffer, Queue
from streamops.runtime.calling import results_of
from streamops.runtime.counts import HandlerCounters
from streamops.runtime.entry import LOST, QUEUED, RUNNING, WAITING, ConsumerStream, Entry
from streamops.runtime.handlers import BatchCall, Call, Handler
from streamops.runtime.outcomes import Outcomes
from streamops.runtime.retry import NO_RETRY, Disposition, EntryOutcome, HandlerTimeout, words

PATIENCE: Final = 0.01
"""Seconds after which a slot whose handler never awaits yields to the event loop."""
AHEAD: Final = 0.1
"""Seconds of work that are read ahead."""
AT_ONCE: Final = 100
"""Entries of a batch that are marked or settled in one call to the server."""

NEVER: Final = float("inf")
NEVER_SOON: Final = 3600.0
"""Seconds between two rounds of a sweeper without a timeout to enforce."""


class Slot:
    """One concurrent call of a handler.

    Attributes:
        entries: The entries that it handles now; empty while it rests.
        filling: The entries of its next batch while it waits for more.
        deadline: When the call times out, on the event loop's clock.
        overdue: Whether the sweeper has cancelled the call for its timeout.
        task: Its task.
    """

    __slots__ = ("deadline", "entries", "filling", "overdue", "task")

    def __init__(self) -> None:
        self.entries: Sequence[Entry] = ()
        self.filling: Sequence[Entry] = ()
        self.deadline = NEVER
        self.overdue = False
        self.task: asyncio.Task[None] | None = None


class BatchFailed(HandlerError):
    """A batch failed, and it is not known which of its entries is to blame."""


class Executor:
    """The slots of one handler.

    Attributes:
        handler: The handler.
        buffer: Entries that wait for a slot.
        slots: The slots.
        counts: The handler's counters.
        call: Handles an entry; set when the worker starts, None for a handler of batches.
        batch_call: Handles a batch; None for a handler of single entries.
        linger: Seconds that a batch which is not full waits for more entries; zero once the worker stops.
        waiting: Entries in flight until their next try; at most the handler's prefetch.
    """

    def __init__(
        self,
        handler: Handler,
        outcomes: Outcomes,
        counts: HandlerCounters,
    ) -> None:
        self.handler = handler
        self.buffer = Buffer()
        self.slots = [Slot() for _ in range(handler.concurrency)]
        self.counts = counts
        self.linger = handler.linger.total_seconds()
        self.waiting: dict[Entry, asyncio.TimerHandle] = {}
        self.call: Call | None = None
        self.batch_call: BatchCall | None = None
        self._outcomes = outcomes
        self._queues: dict[ConsumerStream, Queue] = {}
        self._resting: list[asyncio.Future[None]] = []
        self._waking = False
        self._begun = 0
        self._closed = False
        self._limit = handler.timeout.total_seconds() if handler.timeout else NEVER

    def add_queue(self, streams: Iterable[ConsumerStream], weight: int, room: asyncio.Event) -> Queue:
        """Add a queue for the entries of one stream and its retry stream."""
        queue = self.buffer.add_queue(weight, room)
        self._queues.update((stream, queue) for stream in streams)
        return queue

    async def run(self) -> None:
        """Handle entries until cancelled. Slots are not this task's children: the calls under way outlive it."""
        work = self._batches if self.batch_call else self._singles
        for number, slot in enumerate(self.slots):
            slot.task = asyncio.create_task(work(slot), name=f"{self.handler.name}-{number}")
        sweeper = asyncio.create_task(self._sweep(), name=f"{self.handler.name}-timeouts")
        tasks = {sweeper, *(slot.task for slot in self.slots if slot.task)}
        try:
            while tasks:
                ended, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    if not task.cancelled():
                        task.result()
        finally:
            sweeper.cancel()

    async def end(self, limit: float) -> set[Entry]:
        """Cancel all slots and wait up to ``limit`` seconds; the entries of slots that do not end."""
        await cancel([slot.task for slot in self.slots if slot.task], limit)
        return {entry for slot in self.slots if slot.task and not slot.task.done() for entry in slot.entries}

    @property
    def lingers(self) -> bool:
        """Whether a slot still runs."""
        return any(slot.task is not None and not slot.task.done() for slot in self.slots)

    @property
    def busy(self) -> int:
        """How many slots handle entries now."""
        return sum(1 for slot in self.slots if slot.entries)

    @property
    def has_unstarted(self) -> bool:
        """Whether entries wait for a slot, or for their batch to fill."""
        return bool(self.buffer) or any(slot.filling for slot in self.slots)

    @property
    def ahead(self) -> int:
        """How many entries are worth reading ahead: ``AHEAD`` seconds of work, within the handler's prefetch."""
        per_slot = AHEAD / self.counts.durations.recent
        many = int(self.handler.concurrency * self.handler.batch * per_slot)
        return max(1, min(self.handler.prefetch, many))

    @property
    def room(self) -> int:
        """How many more entries may be read now; may be negative."""
        if self._is_laden:
            return 0
        return len(self._resting) * self.handler.batch + self.ahead - len(self.buffer)

    def room_for(self, queue: Queue) -> int:
        """How many more entries of one stream may be read now: its share of the room, whatever the others hold."""
        if self._is_laden:
            return 0
        resting = len(self._resting) * self.handler.batch
        return ceil(resting * self.buffer.share(queue)) + self.ahead_of(queue) - len(queue)

    def ahead_of(self, queue: Queue) -> int:
        """How many entries of one stream are worth reading ahead."""
        return max(1, int(self.ahead * self.buffer.share(queue)))

    @property
    def _is_laden(self) -> bool:
        """Whether the entries that wait for their next try fill the prefetch."""
        return len(self.waiting) >= self.handler.prefetch

    def enqueue(self, entries: Iterable[Entry]) -> None:
        """Queue entries that were delivered before; those that may have been started come first, suspects one at a time."""
        if self._closed:
            # They stay in flight, and are handed back as the worker leaves.
            return
        for entry in entries:
            queue = self._queues[entry.consumer_stream]
            if entry.may_have_started:
                # It may have killed workers.
                suspect = entry.marks > 0 or entry.attempt + 1 >= self.handler.retry.max_attempts
                (self.buffer.suspects if suspect else queue.again).append(entry)
            else:
                queue.fresh.append(entry)
        self.wake()

    def wake(self) -> None:
        """Wake one resting slot, as the buffer has entries."""
        while self._resting and not self._waking:
            resting = self._resting.pop()
            if not resting.done():
                self._waking = True
                resting.set_result(None)

    def close(self) -> None:
        """Start no more entries; those that wait stay in flight, and are handed back as the worker leaves."""
        self._closed = True
        self.linger = 0.0
        self.buffer.clear()
        for timer in self.waiting.values():
            timer.cancel()
        self.waiting.clear()

    async def fail(self, entry: Entry, error: BaseException) -> None:
        """Apply the handler's retry policy to an entry that failed."""
        outcome = self._outcomes.decide(entry, error)
        if outcome.fate is not Disposition.ACKNOWLEDGE:
            self.counts.failures += 1
            entry.messages = ()
        done = await self.apply(entry, outcome)
        if done is not None and done.fate is Disposition.DEAD_LETTER:
            await self._outcomes.call_hook(entry, error)

    async def apply(self, entry: Entry, outcome: EntryOutcome) -> EntryOutcome | None:
        """Carry an outcome out, as ``Outcomes.apply``; an entry that waits in place is enqueued again when it is due."""
        done = await self._outcomes.apply(entry, outcome)
        if done is not None and done.fate is Disposition.WAIT:
            entry.state = WAITING
            entry.needs_mark = True
            entry.uncounted = not done.counts
            if self._closed:
                return done
            timer = asyncio.get_running_loop().call_later(done.delay.total_seconds(), self._due, entry)
            self.waiting[entry] = timer
        return done

    def _due(self, entry: Entry) -> None:
        del self.waiting[entry]
        entry.state = QUEUED
        self.enqueue([entry])

    async def _singles(self, slot: Slot) -> None:  # noqa: C901, PLR0912 - the hottest loop there is: a call costs
        """Handle single entries until cancelled."""
        now, take, call = asyncio.get_running_loop().time, self.buffer.take, self.call
        assert call is not None  # noqa: S101 - an executor of single entries has it
        began = turn = now()
        while True:
            entry = take()
            if entry is None:
                await self._rest()
                began = turn = now()
                continue
            if self._resting and not self._waking:
                self._wake_another()
            slot.entries = (entry,)
            entry.state = RUNNING
            self._begun = mine = self._begun + 1
            if entry.needs_mark or entry.lost:
                if not await self._may_start(entry):
                    slot.entries = ()
                    continue
                began = now()
            slot.deadline = began + self._limit
            try:
                await call(entry)
            except BaseException as error:  # noqa: BLE001 - a handler may raise anything
                await self._fell(slot, slot.entries, error)
            else:
                if slot.overdue:
                    self._was_cut_off(slot)
                if entry.messages:
                    await self._finish(slot, entry)
                else:
                    entry.consumer_stream.finish(entry)
            # One reading of the clock serves two entries.
            ended = now()
            self.counts.observe(ended - began)
            slot.entries, slot.deadline, began = (), NEVER, ended
            if entry.needs_mark:
                self._release(entry)
            if ended - turn > PATIENCE:
                turn = ended
                # If another slot has started an entry meanwhile, the event loop had its turn.
                if mine == self._begun:
                    began = turn = await self._step_back()

    async def _finish(self, slot: Slot, entry: Entry) -> None:
        """Acknowledge an entry together with the messages that its handler published."""
        slot.deadline = NEVER
        if problem := await self._outcomes.finish(entry):
            await self.fail(entry, problem)

    @staticmethod
    async def _step_back() -> float:
        """Yield to the event loop; the time after that."""
        await asyncio.sleep(0)
        return asyncio.get_running_loop().time()

    async def _batches(self, slot: Slot) -> None:
        """Handle batches until cancelled."""
        now = asyncio.get_running_loop().time
        while True:
            entries = await self._take_batch(slot)
            slot.filling = ()
            if not entries or self._closed:
                await self._rest()
                continue
            self._wake_another()
            slot.entries = entries
            for entry in entries:
                entry.state = RUNNING
            kept = await self._may_all_start(entries)
            began = now()
            slot.deadline = began + self._limit
            if kept:
                await self._handle_batch(slot, kept)
            self.counts.observe_batch(now() - began, len(kept))
            slot.entries = ()
            slot.deadline = NEVER
            for entry in entries:
                if entry.needs_mark:
                    self._release(entry)
            await asyncio.sleep(0)

    async def _handle_batch(self, slot: Slot, entries: list[Entry]) -> None:
        """Call the handler with a batch; if it returns a list, each entry has its own result."""
        assert self.batch_call is not None  # noqa: S101 - an executor of batches has it
        try:
            results = results_of(await self.batch_call(entries), len(entries))
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything
            await self._fell(slot, entries, error)
            return
        slot.deadline = NEVER
        self._was_cut_off(slot)
        failures: list[tuple[Entry, BaseException]] = []
        publishing: list[Entry] = []
        for entry, result in zip(entries, results, strict=True):
            if isinstance(result, BaseException):
                failures.append((entry, result))
            elif entry.messages:
                publishing.append(entry)
            else:
                entry.consumer_stream.finish(entry)
        await self._fail_all(failures)
        for at in range(0, len(publishing), AT_ONCE):
            await asyncio.gather(*(self._finish(slot, entry) for entry in publishing[at : at + AT_ONCE]))

    async def _take_batch(self, slot: Slot) -> list[Entry]:
        """Take a full batch, or fewer entries if no more come within the handler's linger.

        An entry that failed before is handled alone: if a batch raises, it is not known which entry is to blame, and no
        other entry must be dead-lettered for it.
        """
        buffer = self.buffer
        first = buffer.apart.popleft() if buffer.apart else buffer.take()
        if first is None:
            return []
        slot.filling = entries = [first]
        if first is buffer.quarantined or first.attempt > 1:
            return entries
        loop = asyncio.get_running_loop()
        began = loop.time()
        while len(entries) < self.handler.batch:
            if buffer.suspects and buffer.quarantined is None:
                break
            entry = buffer.take()
            if entry is not None and entry.attempt > 1:
                buffer.apart.append(entry)
                self.wake()
            elif entry is not None:
                entries.append(entry)
            elif (left := began + self.linger - loop.time()) > 0:
                buffer.ask_for_more()
                await asyncio.sleep(min(PATIENCE, left))
            else:
                break
        return entries

    async def _may_start(self, entry: Entry) -> bool:
        """Mark the start of an entry that was delivered before; whether it may start. One that is lost is dropped."""
        if entry.lost:
            entry.consumer_stream.drop(entry, LOST)
        elif await self._outcomes.mark(entry):
            return True
        self._release(entry)
        return False

    async def _may_all_start(self, entries: list[Entry]) -> list[Entry]:
        """The entries of a batch that may start, those that need it marked."""
        doubtful = [entry for entry in entries if entry.needs_mark or entry.lost]
        if not doubtful:
            return entries
        refused: set[Entry] = set()
        for at in range(0, len(doubtful), AT_ONCE):
            some = doubtful[at : at + AT_ONCE]
            allowed = await asyncio.gather(*map(self._may_start, some))
            refused.update(entry for entry, may in zip(some, allowed, strict=True) if not may)
        return [entry for entry in entries if entry not in refused]

    def _release(self, entry: Entry) -> None:
        """End the quarantine of a suspect, and wake a slot for the next one."""
        if self.buffer.release(entry):
            self.wake()

    def _wake_another(self) -> None:
        """Wake another slot if the buffer has more entries."""
        if self.buffer.has_next():
            self.wake()

    async def _fell(self, slot: Slot, entries: Sequence[Entry], error: BaseException) -> None:
        """Handle an exception or timeout of a call; re-raise what ends the slot itself, or the process."""
        slot.deadline = NEVER
        cut_off = self._was_cut_off(slot)
        ending = slot.task is not None and slot.task.cancelling() > 0
        if isinstance(error, asyncio.CancelledError) and not ending:
            # Without a timeout, something that the handler awaited was cancelled: the handler's own failure.
            if cut_off:
                error = HandlerTimeout(f"longer than {self._limit:g} s")
        elif not isinstance(error, Exception):
            raise error
        if len(entries) > 1:
            error = self._shared(error)
        await self._fail_all([(entry, error) for entry in entries])

    async def _fail_all(self, failures: Sequence[tuple[Entry, BaseException]]) -> None:
        """Apply the retry policy to all failures of a call, as many at the same time as one call to the server takes."""
        if len(failures) == 1:
            await self.fail(*failures[0])
            return
        for at in range(0, len(failures), AT_ONCE):
            await asyncio.gather(*(self.fail(*failure) for failure in failures[at : at + AT_ONCE]))

    def _shared(self, error: BaseException) -> BaseException:
        """The error of a batch for each of its entries: a fatal one counts as retryable until an entry was tried alone."""
        retry = self.handler.retry
        no_retry_on = (*(kind for kind, _ in NO_RETRY), *retry.no_retry_on)
        if isinstance(error, no_retry_on) and retry.max_attempts > 1 and retry.schedule is not None:
            return BatchFailed(words(error))
        return error

    @staticmethod
    def _was_cut_off(slot: Slot) -> bool:
        """Whether the call timed out; undoes the cancellation, which was meant for the call and not for the slot."""
        overdue, slot.overdue = slot.overdue, False
        if overdue and slot.task:
            slot.task.uncancel()
        return overdue

    async def _rest(self) -> None:
        """Wait until the buffer may have entries; ends the slot once the executor is closed."""
        self.buffer.ask_for_more()
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

    async def _sweep(self) -> None:
        """Cancel calls that time out; one timer for all slots, as one for each call would cost more than the call."""
        now = asyncio.get_running_loop().time
        pause = max(0.01, min(self._limit / 10, 1.0)) if self._limit < NEVER else NEVER_SOON
        while True:
            await asyncio.sleep(pause)
            instant = now()
            for slot in self.slots:
                if slot.deadline < instant and slot.task and not slot.overdue:
                    slot.overdue = True
                    slot.task.cancel()


async def cancel(tasks: Iterable[asyncio.Task[None]], limit: float | None = None) -> None:
    """Cancel tasks and wait for them to end, at most ``limit`` seconds."""
    cancelled = [task for task in tasks if not task.done()]
    for task in cancelled:
        task.cancel()
    done, _ = await asyncio.wait(cancelled, timeout=limit) if cancelled else (set(), set())
    for task in done:
        if not task.cancelled():
            task.exception()
