"""Does what was decided of an entry: another try, or the dead letters. Never nothing.

What cannot be done, because the server is away or out of memory, stays in flight and pending, and is tried again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final, Generic, TypeVar

from streamops.errors import PublishError, ServerError, StreamopsError
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

MILLISECOND: Final = timedelta(milliseconds=1)
MARKS_KEPT: Final = timedelta(days=7)
"""How long marks of starts are remembered after the last one."""
PAUSE: Final = 0.5
DELETED: Final = "it was deleted from its stream while it was handled"

Row = TypeVar("Row")
Answer = TypeVar("Answer")


class Coalescer(Generic[Row, Answer]):
    """One kind of call, for many rows of one stream at once: all that are asked for in the same turn of the event loop.

    A batch of a thousand that fails is settled in ten calls and not in a thousand, by the code that settles one.
    """

    def __init__(
        self, ask: Callable[[ConsumerStream, Sequence[Row]], Awaitable[Sequence[Answer | StreamopsError]]]
    ) -> None:
        self._ask = ask
        self._waiting: dict[ConsumerStream, list[tuple[Row, asyncio.Future[Answer]]]] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def ask(self, stream: ConsumerStream, row: Row) -> Answer:
        """The answer for one row.

        Raises:
            ServerError: The server did not answer, or refused.
            StreamopsError: That is the answer.
        """
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(stream, [])
        waiting.append((row, answer))
        if len(waiting) == 1:
            # It begins once the event loop turns, for all who come before that; none of them ends it for the others.
            asking = asyncio.create_task(self._ask_for_all(stream))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)
        return await answer

    async def _ask_for_all(self, stream: ConsumerStream) -> None:
        asked = self._waiting.pop(stream)
        try:
            await self._ask_for(stream, asked)
        finally:
            # When the event loop ends, no caller is left waiting.
            for _, answer in asked:
                answer.cancel()

    async def _ask_for(
        self, stream: ConsumerStream, asked: Sequence[tuple[Row, asyncio.Future[Answer]]]
    ) -> None:
        outcomes: Sequence[Answer | Exception]
        try:
            outcomes = await self._ask(stream, [row for row, _ in asked])
        except ServerError as error:
            # An error that is raised twice grows two tracebacks.
            outcomes = [error.copy() for _ in asked]
        except Exception as error:  # noqa: BLE001 - the callers get it
            if len(asked) > 1:
                # One of them cannot even be asked for; the others are not to suffer for it.
                for one in asked:
                    await self._ask_for(stream, [one])
                return
            outcomes = [error]
        for (_, answer), outcome in zip(asked, outcomes, strict=True):
            if answer.done():
                continue
            if isinstance(outcome, Exception):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)


class Outcomes:
    """What becomes of one handler's entries, done at the server."""

    def __init__(
        self, handler: Handler, context: WorkerContext, groups: Groups, counts: HandlerCounters
    ) -> None:
        self._handler = handler
        self._context = context
        self._groups = groups
        self._counts = counts
        server = context.server

        async def mark(stream: ConsumerStream, rows: Sequence[Start]) -> Sequence[int | Settled]:
            sub = stream.subscription
            return await mark_starts(server, sub, retries=stream.retries, rows=rows, ttl=MARKS_KEPT)

        async def retry(stream: ConsumerStream, rows: Sequence[ScheduledRetry]) -> Sequence[Settled]:
            return await retry_all(server, stream.subscription, retries=stream.retries, rows=rows)

        async def give_up(stream: ConsumerStream, rows: Sequence[DeadLetterDraft]) -> Sequence[Settled]:
            return await dead_letter_all(server, stream.subscription, retries=stream.retries, letters=rows)

        async def publish(stream: ConsumerStream, rows: Sequence[AckRow]) -> Sequence[Settled | PublishError]:
            return await publish_and_acknowledge(
                server, stream.subscription, retries=stream.retries, rows=rows
            )

        self._mark: Coalescer[Start, int | Settled] = Coalescer(mark)
        self._publish = Coalescer(publish)
        self._retry = Coalescer(retry)
        self._give_up = Coalescer(give_up)

    async def mark(self, entry: Entry) -> bool:
        """Mark a start that is not an entry's first, or its only one; whether it may go on."""
        counts = entry.may_have_started and not entry.uncounted
        if entry.attempt >= self._handler.retry.max_attempts and counts:
            error = f"delivered {entry.deliveries} times, started {entry.attempt} times, never finished"
            await self.apply(entry, dead_letter(MAX_DELIVERIES, error))
            return False
        while True:
            try:
                # Whoever knows of fewer marks than there are adds none.
                start = Start(entry.raw_id, entry.marks - entry.uncounted, entry.digest)
                marks = await self._mark.ask(entry.consumer_stream, start)
            except ServerError as error:
                self._context.events.emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
                if entry.lost:
                    return False
            else:
                if not isinstance(marks, Settled):
                    break
                if marks is Settled.SUPERSEDED or not await self._is_restored(entry):
                    entry.consumer_stream.drop(entry, LOST)
                    return False
        entry.attempt += counts
        entry.uncounted = False
        entry.marks = marks
        return True

    def decide(self, entry: Entry, error: BaseException) -> EntryOutcome:
        """What is to become of an entry whose handler raised, or which could not be given to it."""
        retry = self._handler.retry
        try:
            outcome = decide(retry, entry.attempt, error, random.random())  # noqa: S311 - no cryptography
        except Exception as problem:  # noqa: BLE001 - a user's error may be made in any way
            outcome = dead_letter(REJECTED, f"{words(error)}; nothing can be decided by it: {words(problem)}")
        # One that waits is not looked at again before its next try: it owns its business key, or needs none.
        owns_key = self._handler.guard is None or entry.idempotency_key is not None
        if outcome.fate is Disposition.DELAY and retry.in_place and owns_key:
            return EntryOutcome(Disposition.WAIT, outcome.error, outcome.delay, outcome.counts)
        return outcome

    async def apply(self, entry: Entry, outcome: EntryOutcome) -> EntryOutcome | None:
        """Do what was decided; what came of it, nothing where the entry is another's by now, or stuck.

        Where that is to wait, the caller keeps the entry until then. What goes wrong with one is no end of the worker.
        """
        if entry.superseded:
            entry.consumer_stream.drop(entry, LOST)
            return None
        if entry.noack and outcome.fate is not Disposition.ACKNOWLEDGE:
            entry.state = LOST
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
                case Disposition.DEAD_LETTER:
                    await self._dead_letter(entry, outcome)
        except Exception as problem:  # noqa: BLE001 - whatever it is, the next entry must not be the one to find it
            self._stay(entry, words(problem))
            return None
        if outcome.fate is Disposition.WAIT:
            self._emit_retry(entry, outcome, "passive")
        return outcome

    async def finish(self, entry: Entry) -> PublishError | None:
        """Have an entry acknowledged that was handled, together with its messages; why these cannot be added."""
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
        """Call the handler's failure hook; what it raises is told, and changes nothing."""
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
        """Move an entry into the delayed queue, from where it comes back for this group alone; what came of it."""
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

    async def _dead_letter(self, entry: Entry, outcome: EntryOutcome) -> None:
        letter = DeadLetterDraft(
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
        settled = await self._insist(entry, lambda: self._give_up.ask(entry.consumer_stream, letter))
        if settled is Settled.TOO_WIDE:
            # It stays pending with this worker, where `pending ls` shows it.
            self._stay(entry, "it has more fields than a script can move")
            return
        is_written = settled in (Settled.DONE, Settled.GONE)
        entry.consumer_stream.drop(entry, DEAD_LETTERED if is_written else LOST)
        if is_written:
            # The dead letter of an entry that is gone says so.
            reason = outcome.reason if settled is Settled.DONE else PAYLOAD_MISSING
            self._counts.dead_lettered[reason] += 1
            self._context.events.emit(
                DeadLettered(entry.stream, entry.group, entry.id, entry.attempt, reason, outcome.error)
            )

    def _stay(self, entry: Entry, reason: str) -> None:
        """Leave an entry pending that can neither be handled nor given up."""
        entry.needs_mark = True
        entry.state = STUCK
        self._context.events.emit(Stuck(entry.stream, entry.group, entry.id, reason))

    async def _insist(self, entry: Entry, settle: Callable[[], Awaitable[Settled]]) -> Settled:
        """Settle, however long it takes: scripts look first, so that a repeated call does no harm."""
        heard = True
        # Looked at anew before each call: another primary may have given its ID to another entry of ours.
        while not entry.lost:
            try:
                settled = await settle()
            except ServerError as error:
                # It may have been done all the same.
                heard = False
                self._context.events.emit(Troubled(entry.stream, error))
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
                return await self._groups.is_pending_again(entry)
            except ServerError as error:
                self._context.events.emit(Troubled(entry.stream, error))
                await asyncio.sleep(PAUSE)
        return False

    def _emit_retry(self, entry: Entry, outcome: EntryOutcome, kind: str) -> None:
        self._counts.retries[kind] += 1
        self._context.events.emit(
            Retried(entry.stream, entry.group, entry.id, entry.attempt, outcome.delay, outcome.error)
        )
