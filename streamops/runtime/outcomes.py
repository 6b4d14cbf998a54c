"""What becomes of entries whose handler failed: another try, or the dead letters. Never nothing.

What cannot be settled, because the server is away or out of memory, stays in hand and pending, and is tried again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from streamops.errors import ServerError
from streamops.model.deliveries import Letter, Retry, Settled, Start
from streamops.model.ids import EPOCH
from streamops.runtime.coalescer import OutcomeCalls
from streamops.runtime.entry import Entry
from streamops.runtime.events import DeadLettered, Event, HookFailed, Retried, Stuck, Troubled
from streamops.runtime.executor import Executor
from streamops.runtime.retry import (
    MAX_DELIVERIES,
    PAYLOAD_MISSING,
    REJECTED,
    Acknowledge,
    Again,
    DeadLetter,
    Outcome,
    decide,
    words,
)
from streamops.wire.server import Server

MILLISECOND: Final = timedelta(milliseconds=1)
PAUSE: Final = 0.5
DELETED: Final = "it was deleted from its stream while it was handled"


class Outcomes:
    """Settles the failures of one handler's entries.

    Attributes:
        waiting: Entries that stay pending with this worker until their next try.
    """

    def __init__(
        self,
        server: Server,
        executor: Executor,
        *,
        finished: Callable[[Entry], None],
        again: Callable[[Entry], None],
        is_pending_again: Callable[[Entry], Awaitable[bool]],
        wake_promoter: Callable[[str, datetime], None],
        emit: Callable[[Event], None],
    ) -> None:
        self.waiting = executor.waiting
        self._server = server
        self._calls = OutcomeCalls(server)
        self._executor = executor
        self._finished = finished
        self._again = again
        self._is_pending_again = is_pending_again
        self._wake_promoter = wake_promoter
        self._emit = emit

    async def mark(self, entry: Entry) -> bool:
        """Mark a start that is not an entry's first, or its only one; whether it may go on."""
        most = self._executor.handler.retry.most
        counts = entry.may_have_started and not entry.uncounted
        if entry.attempt >= most and counts:
            error = f"delivered {entry.deliveries} times, started {entry.attempt} times, never finished"
            await self._settle(entry, DeadLetter(MAX_DELIVERIES, error))
            return False
        side = entry.side
        while True:
            try:
                # Whoever knows of fewer marks than there are adds none.
                start = Start(entry.raw_id, entry.marks - entry.uncounted, self._digest(entry))
                marks = await self._calls.mark(side, start)
            except ServerError as error:
                self._emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
                if entry.lost:
                    return False
            else:
                if isinstance(marks, Settled):
                    if marks is not Settled.SUPERSEDED and await self._is_restored(entry):
                        continue
                    side.drop(entry)
                    return False
                entry.attempt += counts
                entry.uncounted = False
                entry.marks = marks
                return True

    async def failed(self, entry: Entry, error: BaseException) -> None:
        """A handler raised."""
        try:
            outcome = decide(self._executor.handler.retry, entry.attempt, error, random.random())  # noqa: S311 - no cryptography
        except Exception as problem:  # noqa: BLE001 - a user's error may be made in any way
            outcome = DeadLetter(REJECTED, f"{words(error)}; nothing can be decided by it: {words(problem)}")
        if not isinstance(outcome, Acknowledge):
            self._executor.counts.failures += 1
        if await self._settle(entry, outcome):
            await self._tell(entry, error)

    async def postpone(self, entry: Entry, delay: timedelta, reason: str) -> None:
        """Have an entry come again that could not be begun; that is no attempt."""
        await self._settle(entry, Again(delay, reason, counts=False))

    def stop(self) -> None:
        """Wait for no more tries."""
        for timer in self.waiting.values():
            timer.cancel()
        self.waiting.clear()

    async def _settle(self, entry: Entry, outcome: Outcome) -> bool:
        """Do what was decided; whether the entry is given up. What goes wrong with one is no end of the worker."""
        if entry.superseded:
            return False
        try:
            match outcome:
                case Acknowledge():
                    self._finished(entry)
                case Again() if self._executor.handler.retry.passive and self._may_wait(entry):
                    self._wait(entry, outcome)
                case Again():
                    return await self._move(entry, outcome)
                case DeadLetter():
                    await self._dead_letter(entry, outcome)
                    return True
        except Exception as problem:  # noqa: BLE001 - whatever it is, the next entry must not be the one to find it
            self._stay(entry, words(problem))
        return False

    def _may_wait(self, entry: Entry) -> bool:
        """Whether an entry need not be screened again before its next try: it owns its business key, or needs none."""
        return self._executor.handler.guard is None or entry.guard_key is not None

    def _wait(self, entry: Entry, again: Again) -> None:
        """Keep an entry pending, and in hand, until its next try."""

        def due() -> None:
            del self.waiting[entry]
            self._again(entry)

        entry.again = True
        entry.uncounted = not again.counts
        self._count(self._executor.counts.retries, "passive")
        self.waiting[entry] = asyncio.get_running_loop().call_later(again.delay.total_seconds(), due)
        self._tell_retry(entry, again)

    async def _move(self, entry: Entry, again: Again) -> bool:
        """Move an entry into the delayed queue, from where it comes back for this group alone; or give it up."""
        side = entry.side
        delay_ms = again.delay // MILLISECOND
        attempt = entry.attempt + again.counts
        row = Retry(entry.raw_id, delay_ms, attempt, entry.origin_id, entry.payload_key, self._digest(entry))
        settled = await self._insist(entry, lambda: self._calls.retry(side, row))
        match settled:
            case Settled.GONE:
                await self._dead_letter(entry, DeadLetter(PAYLOAD_MISSING, f"{again.reason}; {DELETED}"))
                return True
            case Settled.TOO_WIDE:
                # It stays pending with this worker instead.
                self._wait(entry, again)
                return False
        side.drop(entry)
        if settled is Settled.DONE:
            self._count(self._executor.counts.retries, "active")
            self._tell_retry(entry, again)
            due_ms = side.now_ms() + again.delay.total_seconds() * 1000
            self._wake_promoter(entry.stream, EPOCH + timedelta(milliseconds=due_ms))
        return False

    async def _dead_letter(self, entry: Entry, given_up: DeadLetter) -> None:
        side = entry.side
        letter = Letter(
            entry_id=entry.raw_id,
            reason=given_up.reason,
            error=given_up.error,
            deliveries=entry.deliveries,
            attempt=entry.attempt,
            guard_key=entry.guard_key,
            payload_key=entry.payload_key,
            origin_id=entry.origin_id,
            digest=self._digest(entry),
        )
        settled = await self._insist(entry, lambda: self._calls.bury(side, letter))
        if settled is Settled.TOO_WIDE:
            # It stays pending with this worker, where `pending ls` shows it.
            self._stay(entry, "it has more fields than a script can move")
            return
        side.drop(entry)
        if settled in (Settled.DONE, Settled.GONE):
            # The letter of an entry that is gone says so.
            reason = given_up.reason if settled is Settled.DONE else PAYLOAD_MISSING
            self._count(self._executor.counts.dead_lettered, reason)
            self._emit(
                DeadLettered(entry.stream, entry.group, entry.id, entry.attempt, reason, given_up.error)
            )

    def _digest(self, entry: Entry) -> str:
        """By what the server tells an entry apart from another one of its ID, where there may be one."""
        return entry.digest if self._server.replaceable else ""

    def _stay(self, entry: Entry, reason: str) -> None:
        """Leave an entry pending that can neither be handled nor given up."""
        entry.again = True
        self._emit(Stuck(entry.stream, entry.group, entry.id, reason))

    async def _insist(self, entry: Entry, settle: Callable[[], Awaitable[Settled]]) -> Settled:
        """Settle, however long it takes: scripts look first, so that a repeated call does no harm."""
        heard = True
        # Looked at anew before each call: meanwhile another primary may have given its ID to another entry of ours.
        while not entry.lost:
            try:
                settled = await settle()
            except ServerError as error:
                # It may have been done all the same.
                heard = False
                self._emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
            else:
                missing = settled is Settled.GROUP_GONE or (settled is Settled.NOT_OURS and heard)
                if not missing or not await self._is_restored(entry):
                    return settled
        return Settled.NOT_OURS

    async def _is_restored(self, entry: Entry) -> bool:
        """Whether an entry was pending no more because its group was destroyed, and is again."""
        while not entry.lost:
            try:
                return await self._is_pending_again(entry)
            except ServerError as error:
                self._emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
        return False

    async def _tell(self, entry: Entry, error: BaseException) -> None:
        """Call the handler's failure hook; what it raises is told, and changes nothing."""
        hook = self._executor.handler.failed
        if hook is None:
            return
        try:
            answer = hook(entry, error)
            if asyncio.iscoroutine(answer):
                await answer
        except Exception as problem:  # noqa: BLE001 - a hook may raise anything
            self._emit(HookFailed(entry.stream, entry.group, entry.id, words(problem)))

    def _tell_retry(self, entry: Entry, again: Again) -> None:
        self._emit(Retried(entry.stream, entry.group, entry.id, entry.attempt, again.delay, again.reason))

    @staticmethod
    def _count(counts: dict[str, int], reason: str) -> None:
        counts[reason] = counts.get(reason, 0) + 1
