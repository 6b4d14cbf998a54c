"""Moves delayed messages to their streams once they are due: in every worker, without a leader.

Workers need no agreement: the script that moves a message takes it off its queue, so that a second worker finds nothing.
Each sleeps until the next message is due, one second at most, and is woken when an earlier one is published.
"""

import asyncio
import random
import time
from collections.abc import Iterable, Mapping
from contextlib import aclosing, suppress
from datetime import datetime, timedelta
from math import inf
from typing import Final

from streamops.errors import ServerError
from streamops.model.entries import EPOCH
from streamops.model.schedules import Backoff
from streamops.model.streams import Mode
from streamops.runtime.events import (
    DelayedDeadLettered,
    DelayedForeign,
    DelayedRefused,
    DelayedStrays,
    Events,
    Promoted,
    Troubled,
)
from streamops.wire.consuming.promoting import NOTHING_PASSED, Promotion, listen, promote_due
from streamops.wire.keys import NO_CONFIGURATION, dead_letter_key, delayed_key, same_slot
from streamops.wire.server import Server

LONGEST_SLEEP: Final = 1.0
"""Seconds between two checks; notices may be missed."""

BACKOFF: Final = Backoff(0.1, 5.0)
"""Seconds before a failed call is repeated."""

STEP_BACK: Final = 0.005
MOST_STEPS: Final = 4
"""Seconds by which a promoter that was beaten by another steps back, so that one of many does most of the work."""

MOST_DESTINATIONS: Final = 200

AFRESH: Final = 60.0
"""Seconds after which members that were passed over are checked again: a body may have been written since."""

CLOCK_KEPT: Final = 10.0
"""Seconds for which a good reading of the server's clock is trusted."""


class FastestClock:
    """The server's clock, by the fastest of its recent answers."""

    def __init__(self) -> None:
        self._ahead_ms: float | None = None
        self._took = inf
        self._until = -inf

    def read(self, now_ms: int, asked: float, answered: float) -> None:
        """Use an answer unless a faster one is recent; ``asked`` and ``answered`` on the monotonic clock."""
        took = answered - asked
        if took <= self._took or answered > self._until:
            self._ahead_ms = now_ms - answered * 1000
            self._took, self._until = took, answered + CLOCK_KEPT

    def local_time(self, server_ms: float) -> float:
        """An instant of the server's clock on the monotonic clock; minus infinity if unknown."""
        return -inf if self._ahead_ms is None else (server_ms - self._ahead_ms) / 1000


class QueuePromoter:
    """Moves the due messages of one queue."""

    def __init__(
        self,
        server: Server,
        stream: str,
        queue: str,
        dead_letters: str,
        events: Events,
        *,
        longest_sleep: float,
    ) -> None:
        self._server = server
        self._stream = stream
        self._queue = queue
        self._dead_letters = dead_letters
        self._events = events
        self._longest_sleep = longest_sleep
        self._destinations: dict[str, None] = {}
        self._woken = asyncio.Event()
        self._until = inf
        self._asked = self._answered = 0.0
        self._clock = FastestClock()
        self._beaten = 0
        self._strays = self._strays_told = 0
        self._passed = NOTHING_PASSED
        self._afresh_at = 0.0
        self._foreign_told = False

    async def run(self) -> None:
        """Move due messages until cancelled."""
        failures = 0
        awaited = False
        while True:
            try:
                promotion = await self._promote()
            except ServerError as error:
                self._events.emit(Troubled(self._stream, error))
                failures += 1
                # With jitter, so that workers come back one by one.
                await asyncio.sleep(BACKOFF.pause(failures, random.random()))  # noqa: S311 - no cryptography
                continue
            failures = 0
            self._emit_events(promotion)
            self._compare(promotion, awaited=awaited)
            awaited = await self._sleep(promotion)

    def wake(self, due_ms: float | None) -> None:
        """Wake at an instant of the server's clock, or now without one."""
        until = 0.0 if due_ms is None else self._clock.local_time(due_ms)
        if until < self._until:
            self._until = until
            self._woken.set()

    async def _promote(self) -> Promotion:
        # Messages published from now on may be missed by the call; their notices end the sleep after it.
        self._until = inf
        self._asked = time.monotonic()
        if self._asked >= self._afresh_at:
            self._passed, self._afresh_at = NOTHING_PASSED, self._asked + AFRESH
        promotion = await promote_due(
            self._server,
            self._stream,
            self._destinations,
            queue=self._queue,
            dead_letters=self._dead_letters,
            passed=self._passed,
        )
        self._passed = promotion.passed
        self._answered = time.monotonic()
        self._clock.read(promotion.now_ms, self._asked, self._answered)
        self._learn(promotion.unknown)
        return promotion

    def _learn(self, unknown: Iterable[str]) -> None:
        """Remember further destinations, the latest ``MOST_DESTINATIONS`` of them."""
        known = [*self._destinations, *unknown]
        self._destinations = dict.fromkeys(known[-MOST_DESTINATIONS:])

    def _compare(self, promotion: Promotion, *, awaited: bool) -> None:
        """Count how often another worker was faster with the awaited message."""
        if promotion.moved:
            self._beaten = 0
        elif awaited and not promotion.unknown:
            self._beaten = min(self._beaten + 1, MOST_STEPS)

    async def _sleep(self, promotion: Promotion) -> bool:
        """Sleep until the next message is due, or for a while; whether a message is due now."""
        wait = promotion.wait
        if wait == timedelta() or promotion.unknown:
            return False
        end = time.monotonic() + self._longest_sleep
        expected = wait is not None and wait.total_seconds() < self._longest_sleep
        if expected:
            end = self._due(promotion) + STEP_BACK * random.uniform(0, self._beaten)  # noqa: S311 - spreads workers
        self._until = min(self._until, end)
        while time.monotonic() < self._until:
            self._woken.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._until - time.monotonic()):
                    await self._woken.wait()
        return expected and time.monotonic() >= end

    def _due(self, promotion: Promotion) -> float:
        """When the next message is due, on the monotonic clock.

        The server read its clock between request and reply; after a slow reply, the clock known from faster ones is closer.
        """
        wait = (promotion.wait or timedelta()).total_seconds()
        due = self._clock.local_time(promotion.next_due_ms or 0)
        return min(max(due, self._asked + wait), self._answered + wait)

    def _emit_events(self, promotion: Promotion) -> None:
        if promotion.moved:
            self._events.emit(Promoted(self._stream, promotion.moved))
        for ident, reason in promotion.buried:
            self._events.emit(DelayedDeadLettered(self._stream, ident, reason))
        for refusal in promotion.refused:
            self._events.emit(DelayedRefused(self._stream, refusal.key, refusal.error, refusal.messages))
        if promotion.foreign and not self._foreign_told:
            self._events.emit(DelayedForeign(self._stream, self._queue, promotion.foreign))
            self._foreign_told = True
        # Other programs may write the two halves of a message one after the other: only strays seen twice are reported.
        strays = min(self._strays, promotion.strays)
        self._strays = promotion.strays
        if strays > self._strays_told:
            self._events.emit(DelayedStrays(self._stream, strays))
        self._strays_told = strays


class Promoter:
    """Moves the due messages of a worker's streams.

    Args:
        server: The server.
        streams: The streams whose delayed messages to move.
        events: Where events are emitted.
        queues: Configured queues of delayed messages, by stream.
        dead_letters: Configured dead-letter queues, by stream.
        longest_sleep: Seconds between two checks of a queue without notices.
    """

    def __init__(
        self,
        server: Server,
        streams: Iterable[str],
        events: Events,
        *,
        queues: Mapping[str, str] = NO_CONFIGURATION,
        dead_letters: Mapping[str, str] = NO_CONFIGURATION,
        longest_sleep: float = LONGEST_SLEEP,
    ) -> None:
        self._server = server
        self._named = queues
        self._queues: dict[str, QueuePromoter] = {}
        for stream in streams:
            queue, dlq = delayed_key(stream, queues), dead_letter_key(stream, dead_letters)
            # On a cluster, some streams' names allow no queue in the same slot.
            if server.options.mode is not Mode.CLUSTER or same_slot(stream, queue, dlq):
                self._queues[queue] = QueuePromoter(
                    server, stream, queue, dlq, events, longest_sleep=longest_sleep
                )

    async def run(self) -> None:
        """Move due messages until cancelled; wait for a server that does not answer."""
        async with asyncio.TaskGroup() as tasks:
            for queue in self._queues.values():
                tasks.create_task(queue.run())
            if self._queues:
                tasks.create_task(self._listen())

    def wake(self, stream: str, due: datetime | None = None) -> None:
        """Make sure that the stream's queue is checked when a message just delayed is due; without a time, check now."""
        due_ms = None if due is None else (due - EPOCH) / timedelta(milliseconds=1)
        self._wake(delayed_key(stream, self._named), due_ms)

    async def _listen(self) -> None:
        """Wake promoters by notices of messages that are due earlier."""
        async with aclosing(listen(self._server.options, [*self._queues])) as notices:
            async for channel, text in notices:
                self._wake(channel, float(text) if text is not None and text.isdigit() else None)

    def _wake(self, key: str, due_ms: float | None) -> None:
        if key in self._queues:
            self._queues[key].wake(due_ms)
