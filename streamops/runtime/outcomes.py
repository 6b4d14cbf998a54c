"""Carries out what becomes of an entry: acknowledged, tried again, or dead-lettered.

While the server does not answer or is out of memory, the entry stays in flight and pending, and the call is repeated.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final, Generic, TypeVar

from streamops.errors import HandlerError, PublishError, ServerError, StreamopsError
from streamops.model.deliveries import AckRow, DeadLetterDraft, ScheduledRetry, Settled, Start
from streamops.model.entries import EPOCH
from streamops.runtime.context import WorkerContext
from streamops.runtime.counts import HandlerCounters
from streamops.runtime.entry import (
    DEAD_LETTERED,
    DELAYED,
    HANDLED,
    LOST,
    RUNNING,
    STUCK,
    ConsumerStream,
    Entry,
)
from streamops.runtime.events import DeadLettered, HookFailed, NotHandled, Retried, Stuck, Troubled
from streamops.runtime.groups import Groups
from streamops.runtime.handlers import Handler
from streamops.runtime.retry import (
    MAX_DELIVERIES,
    PAYLOAD_MISSING,
    REJECTED,
    Disposition,
    EntryOutcome,
    dead_letter,
    decide,
    words,
)
from streamops.wire.consuming.entries import publish_and_acknowledge
from streamops.wire.consuming.settling import dead_letter_all, mark_starts, retry_all
from streamops.wire.server import Server

MILLISECOND: Final = timedelta(milliseconds=1)
PAUSE: Final = 0.5
DELETED: Final = "it was deleted from its stream while it was handled"

Row = TypeVar("Row")
Answer = TypeVar("Answer")


class Coalescer(Generic[Row, Answer]):
    """Makes one call of all rows of a stream that are requested in the same turn of the event loop.

    So a batch of a thousand entries that fails is settled in ten calls, by the code that settles a single entry.

    Args:
        server: The server.
        call: A function of ``wire.consuming`` that takes the rows of one stream, and answers each.
    """

    def __init__(
        self, server: Server, call: Callable[..., Awaitable[Sequence[Answer | StreamopsError]]]
    ) -> None:
        self._server = server
        self._call = call
        self._waiting: dict[ConsumerStream, list[tuple[Row, asyncio.Future[Answer]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, stream: ConsumerStream, row: Row) -> Answer:
        """Request the answer for one row.

        Raises:
            ServerError: The server did not answer, or refused.
            StreamopsError: The answer is this error.
        """
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(stream, [])
        waiting.append((row, answer))
        if len(waiting) == 1:
            # The task starts when the event loop turns; a caller that is cancelled does not end it for the others.
            task = asyncio.create_task(self._send(stream))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await answer

    async def _send(self, stream: ConsumerStream) -> None:
        requests = self._waiting.pop(stream)
        try:
            await self._answer(stream, requests)
        finally:
            # When the event loop ends, no caller is left waiting.
            for _, answer in requests:
                answer.cancel()

    async def _answer(
        self, stream: ConsumerStream, requests: Sequence[tuple[Row, asyncio.Future[Answer]]]
    ) -> None:
        outcomes: Sequence[Answer | Exception]
        try:
            rows = [row for row, _ in requests]
            outcomes = await self._call(self._server, stream.subscription, retries=stream.retries, rows=rows)
        except ServerError as error:
            # An error that is raised twice grows two tracebacks.
            outcomes = [error.copy() for _ in requests]
        except Exception as error:  # noqa: BLE001 - the callers get it
            if len(requests) > 1:
                # One row cannot be sent at all; the others must not fail with it.
                for request in requests:
                    await self._answer(stream, [request])
                return
            outcomes = [error]
        for (_, answer), outcome in zip(requests, outcomes, strict=True):
            if answer.done():
                continue
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)


class Outcomes:
    """Decides and carries out what becomes of one handler's entries."""

    def __init__(
        self, handler: Handler, context: WorkerContext, groups: Groups, counts: HandlerCounters
    ) -> None:
        self._handler = handler
        self._context = context
        self._groups = groups
        self._counts = counts
        self._mark = Coalescer[Start, int | Settled](context.server, mark_starts)
        self._publish = Coalescer[AckRow, Settled](context.server, publish_and_acknowledge)
        self._retry = Coalescer[ScheduledRetry, Settled](context.server, retry_all)
        self._give_up = Coalescer[DeadLetterDraft, Settled](context.server, dead_letter_all)

    async def mark(self, entry: Entry) -> bool:
        """Mark the start of an entry that was delivered before, or has one start; whether the handler may run."""
        counts = entry.may_have_started and not entry.uncounted
        if entry.attempt >= self._handler.retry.max_attempts and counts:
            error = f"delivered {entry.deliveries} times, started {entry.attempt} times, never finished"
            if await self.apply(entry, dead_letter(MAX_DELIVERIES, error)):
                await self.call_hook(entry, HandlerError(error))
            return False
        stream = entry.consumer_stream
        # A start with fewer marks than the server has adds none.
        start = Start(entry.raw_id, entry.marks - entry.uncounted, entry.digest)
        while isinstance(marks := await self._answer(entry, lambda: self._mark.ask(stream, start)), Settled):
            if marks is Settled.SUPERSEDED or not await self._is_restored(entry):
                break
        if marks is None or isinstance(marks, Settled):
            stream.drop(entry, LOST)
            return False
        entry.attempt += counts
        entry.uncounted = False
        entry.marks = marks
        return True

    def decide(self, entry: Entry, error: BaseException) -> EntryOutcome:
        """Decide what becomes of an entry whose handler raised, or which could not be prepared for it."""
        retry = self._handler.retry
        try:
            outcome = decide(retry, entry.attempt, error, random.random())  # noqa: S311 - no cryptography
        except Exception as problem:  # noqa: BLE001 - a user's error may be made in any way
            outcome = dead_letter(REJECTED, f"{words(error)}; nothing can be decided by it: {words(problem)}")
        # An entry that waits in place is not prepared again before its next try: it must own its business key.
        owns_key = self._handler.guard is None or entry.idempotency_key is not None
        if outcome.fate is Disposition.DELAY and retry.in_place and owns_key:
            return EntryOutcome(Disposition.WAIT, outcome.error, outcome.delay, outcome.counts)
        return outcome

    async def apply(self, entry: Entry, outcome: EntryOutcome) -> EntryOutcome | None:
        """Carry an outcome out; the outcome that was reached, None if another consumer owns the entry or it is stuck.

        An entry that waits in place is the caller's until its next try. No failure of a single entry ends the worker.
        """
        if entry.superseded:
            entry.consumer_stream.drop(entry, LOST)
            return None
        if entry.noack and outcome.fate is not Disposition.ACKNOWLEDGE:
            entry.consumer_stream.lose(entry)
            self._counts.noack_lost += 1
            self._context.events.emit(NotHandled(entry.stream, entry.group, entry.id, outcome.error))
            return dead_letter(REJECTED, outcome.error)
        try:
            match outcome.fate:
                case Disposition.ACKNOWLEDGE:
                    if problem := await self.finish(entry):
                        return await self.apply(entry, self.decide(entry, problem))
                case Disposition.DELAY:
                    outcome = await self._delay(entry, outcome)
                case Disposition.DEAD_LETTER if not await self._dead_letter(entry, outcome):
                    return None
        except Exception as problem:  # noqa: BLE001 - whatever it is, it must not end the slot
            self._stay(entry, words(problem))
            return None
        if outcome.fate is Disposition.WAIT:
            self._emit_retry(entry, outcome, "passive")
        return outcome

    async def finish(self, entry: Entry) -> PublishError | None:
        """Acknowledge a handled entry together with its messages; the error if the server refuses these."""
        stream, messages = entry.consumer_stream, entry.messages
        if not messages:
            stream.finish(entry)
            return None
        entry.messages, entry.state = (), HANDLED
        row = AckRow(entry.raw_id, entry.payload_key, entry.digest, messages)
        try:
            settled = await self._insist(entry, lambda: self._publish.ask(stream, row))
        except PublishError as problem:
            entry.state = RUNNING
            return problem
        if settled is Settled.DONE:
            stream.confirm(entry)
        else:
            stream.drop(entry, LOST)
        return None

    async def call_hook(self, entry: Entry, error: BaseException) -> None:
        """Call the handler's failure hook; an exception in it is emitted and changes nothing."""
        hook = self._handler.failed
        if hook is None:
            return
        try:
            answer = hook(entry, error)
            if asyncio.iscoroutine(answer):
                await answer
        except Exception as problem:  # noqa: BLE001 - a hook may raise anything
            self._context.events.emit(HookFailed(entry.stream, entry.group, entry.id, words(problem)))

    async def _delay(self, entry: Entry, outcome: EntryOutcome) -> EntryOutcome:
        """Move an entry to the delayed queue, from where it returns to this group alone; the outcome that was reached."""
        row = ScheduledRetry(
            entry.raw_id,
            outcome.delay // MILLISECOND,
            entry.attempt + outcome.counts,
            entry.origin_id,
            entry.payload_key,
            entry.digest,
        )
        settled = await self._insist(entry, lambda: self._retry.ask(entry.consumer_stream, row))
        if settled is Settled.GONE:
            gone = dead_letter(PAYLOAD_MISSING, f"{outcome.error}; {DELETED}")
            await self._dead_letter(entry, gone)
            return gone
        if settled is Settled.TOO_WIDE:
            return EntryOutcome(Disposition.WAIT, outcome.error, outcome.delay, outcome.counts)
        entry.consumer_stream.drop(entry, DELAYED if settled is Settled.DONE else LOST)
        if settled is Settled.DONE:
            self._emit_retry(entry, outcome, "active")
            due = EPOCH + timedelta(milliseconds=self._context.clock.now_ms()) + outcome.delay
            self._context.promoter.wake(entry.stream, due)
        return outcome

    async def _dead_letter(self, entry: Entry, outcome: EntryOutcome) -> bool:
        """Dead-letter an entry; whether it was: another consumer may own it."""
        draft = DeadLetterDraft(
            entry_id=entry.raw_id,
            reason=outcome.reason,
            error=outcome.error,
            deliveries=entry.deliveries,
            attempt=entry.attempt,
            guard_key=entry.idempotency_key,
            payload_key=entry.payload_key,
            origin_id=entry.origin_id,
            digest=entry.digest,
        )
        settled = await self._insist(entry, lambda: self._give_up.ask(entry.consumer_stream, draft))
        if settled is Settled.TOO_WIDE:
            # It stays pending with this worker, where `pending ls` shows it.
            self._stay(entry, "it has more fields than a script can move")
            return False
        is_written = settled in (Settled.DONE, Settled.GONE)
        entry.consumer_stream.drop(entry, DEAD_LETTERED if is_written else LOST)
        if is_written:
            # The dead letter of a deleted entry has no fields but the reason.
            reason = outcome.reason if settled is Settled.DONE else PAYLOAD_MISSING
            self._counts.dead_lettered[reason] += 1
            self._context.events.emit(
                DeadLettered(entry.stream, entry.group, entry.id, entry.attempt, reason, outcome.error)
            )
        return is_written

    def _stay(self, entry: Entry, reason: str) -> None:
        """Leave an entry pending that can neither be handled nor dead-lettered."""
        entry.needs_mark = True
        entry.state = STUCK
        self._context.events.emit(Stuck(entry.stream, entry.group, entry.id, reason))

    async def _insist(self, entry: Entry, settle: Callable[[], Awaitable[Settled]]) -> Settled:
        """Repeat a call until the server answers; its scripts check the owner first, so repeating does no harm."""
        heard = True
        # Checked before each call: a new primary may have given the ID to another entry of ours.
        while not entry.lost:
            try:
                settled = await settle()
            except ServerError as error:
                # The call may have taken effect all the same.
                heard = False
                self._context.events.emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
            else:
                missing = settled is Settled.GROUP_GONE or (settled is Settled.NOT_OURS and heard)
                if not missing or not await self._is_restored(entry):
                    return settled
        return Settled.NOT_OURS

    async def _is_restored(self, entry: Entry) -> bool:
        """Whether an entry had lost its pending row with its group, and has it again."""
        return await self._answer(entry, lambda: self._groups.is_pending_again(entry)) is True

    async def _answer(self, entry: Entry, ask: Callable[[], Awaitable[Answer]]) -> Answer | None:
        """Repeat a call until the server answers; None if another consumer owns the entry by then."""
        while not entry.lost:
            try:
                return await ask()
            except ServerError as error:
                self._context.events.emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
        return None

    def _emit_retry(self, entry: Entry, outcome: EntryOutcome, kind: str) -> None:
        self._counts.retries[kind] += 1
        self._context.events.emit(
            Retried(entry.stream, entry.group, entry.id, entry.attempt, outcome.delay, outcome.error)
        )
