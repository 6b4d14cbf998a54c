"""What becomes of entries whose handler failed: another try, or the dead letters. Never nothing.

What cannot be settled, because the server is away or out of memory, stays in hand and pending, and is tried again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from streamops.errors import ServerError
from streamops.model.ids import EPOCH
from streamops.runtime.crew import Crew
from streamops.runtime.entry import Entry
from streamops.runtime.events import DeadLettered, Event, HookFailed, Retried, Stuck, Troubled
from streamops.runtime.policy import MAX_DELIVERIES, PAYLOAD_MISSING, Acknowledge, Again, Bury, decide, words
from streamops.wire.consuming.settling import Letter, Settled, bury, mark_start, retry_later
from streamops.wire.server import Server

MARKS_KEPT: Final = timedelta(days=7)
"""How long marks of starts are remembered after the last one."""
PAUSE: Final = 0.5


class Settler:
    """Settles the failures of one handler's entries.

    Attributes:
        waiting: Entries that stay pending with this worker until their next try.
    """

    def __init__(
        self,
        server: Server,
        crew: Crew,
        *,
        finished: Callable[[Entry], None],
        again: Callable[[Entry], None],
        wake_pump: Callable[[str, datetime], None],
        emit: Callable[[Event], None],
    ) -> None:
        self.waiting: dict[Entry, asyncio.TimerHandle] = {}
        self._server = server
        self._crew = crew
        self._finished = finished
        self._again = again
        self._wake_pump = wake_pump
        self._emit = emit

    async def mark(self, entry: Entry) -> bool:
        """Mark a start that is not an entry's first; whether it may go on."""
        most = self._crew.handler.retry.most
        if entry.attempt >= most:
            error = f"delivered {entry.deliveries} times, started {entry.attempt} times, never finished"
            await self._settle(entry, Bury(MAX_DELIVERIES, error))
            return False
        side = entry.side
        while True:
            try:
                marks = await mark_start(
                    self._server,
                    side.subscription,
                    retries=side.retries,
                    entry_id=entry.raw_id,
                    marks=entry.marks,
                    ttl=MARKS_KEPT,
                )
            except ServerError as error:
                self._emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
                if entry.lost:
                    return False
            else:
                if marks is None:
                    side.drop(entry)
                    return False
                entry.attempt += 1
                entry.marks = marks
                return True

    async def failed(self, entry: Entry, error: BaseException) -> None:
        """A handler raised."""
        disposition = decide(self._crew.handler.retry, entry.attempt, error, random.random())  # noqa: S311 - no cryptography
        if not isinstance(disposition, Acknowledge):
            self._crew.tally.failures += 1
        await self._settle(entry, disposition)
        if isinstance(disposition, Bury):
            await self._tell(entry, error)

    def stop(self) -> list[Entry]:
        """Wait for no more tries; the entries that were waiting."""
        waiting = [*self.waiting]
        for timer in self.waiting.values():
            timer.cancel()
        self.waiting.clear()
        return waiting

    async def _settle(self, entry: Entry, disposition: Acknowledge | Again | Bury) -> None:
        match disposition:
            case Acknowledge():
                self._finished(entry)
            case Again() if self._crew.handler.retry.passive:
                self._wait(entry, disposition)
            case Again():
                await self._move(entry, disposition)
            case Bury():
                await self._bury(entry, disposition)

    def _wait(self, entry: Entry, again: Again) -> None:
        """Keep an entry pending, and in hand, until its next try."""

        def due() -> None:
            del self.waiting[entry]
            self._again(entry)

        self._count(self._crew.tally.retries, "passive")
        self.waiting[entry] = asyncio.get_running_loop().call_later(again.delay.total_seconds(), due)
        self._tell_retry(entry, again)

    async def _move(self, entry: Entry, again: Again) -> None:
        """Move an entry into the delayed queue, from where it comes back for this group alone."""
        side = entry.side
        settled = await self._insist(
            entry,
            lambda: retry_later(
                self._server,
                side.subscription,
                retries=side.retries,
                entry_id=entry.raw_id,
                delay=again.delay,
                attempt=entry.attempt + again.counts,
                payload_key=entry.payload_key,
            ),
        )
        match settled:
            case Settled.GONE:
                await self._bury(
                    entry, Bury(PAYLOAD_MISSING, "it was deleted from its stream while it was handled")
                )
                return
            case Settled.TOO_WIDE:
                # It stays pending with this worker instead.
                self._wait(entry, again)
                return
        side.drop(entry)
        if settled is Settled.DONE:
            self._count(self._crew.tally.retries, "active")
            self._tell_retry(entry, again)
            due_ms = side.now_ms() + again.delay.total_seconds() * 1000
            self._wake_pump(entry.stream, EPOCH + timedelta(milliseconds=due_ms))

    async def _bury(self, entry: Entry, given_up: Bury) -> None:
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
        )
        settled = await self._insist(
            entry, lambda: bury(self._server, side.subscription, retries=side.retries, letter=letter)
        )
        if settled is Settled.TOO_WIDE:
            # It stays pending with this worker, where `pending ls` shows it.
            self._emit(
                Stuck(entry.stream, entry.group, entry.id, "it has more fields than a script can move")
            )
            return
        side.drop(entry)
        if settled in (Settled.DONE, Settled.GONE):
            self._count(self._crew.tally.dead_lettered, given_up.reason)
            self._emit(
                DeadLettered(
                    entry.stream, entry.group, entry.id, entry.attempt, given_up.reason, given_up.error
                )
            )

    async def _insist(self, entry: Entry, settle: Callable[[], Awaitable[Settled]]) -> Settled:
        """Settle, however long it takes: scripts look first, so that a repeated call does no harm."""
        while True:
            try:
                return await settle()
            except ServerError as error:
                self._emit(Troubled(entry.stream, error))
                if entry.lost:
                    return Settled.NOT_OURS
                await asyncio.sleep(PAUSE)

    async def _tell(self, entry: Entry, error: BaseException) -> None:
        """Call the handler's failure hook; what it raises is told, and changes nothing."""
        hook = self._crew.handler.failed
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
