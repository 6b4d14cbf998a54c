"""Permits to call, shared among waiting topics by their weights.

Each topic has a clock that a permit moves on by one over its weight; the topic that is behind comes first. So high,
normal and low with much to do are called 5:3:2, none of them starves, and a topic alone has all permits.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct


class _WaitLine(Struct):
    """The callers that wait for a permit of one topic."""

    weight: int
    clock: float
    waiting: deque[asyncio.Future[None]]


class WeightedSemaphore:
    """A number of permits."""

    def __init__(self, total: int) -> None:
        self._free = total
        self._now = 0.0
        self._lines: dict[str, _WaitLine] = {}

    @asynccontextmanager
    async def one(self, name: str, weight: int) -> AsyncIterator[None]:
        """Hold one permit, as soon as it is this topic's turn."""
        await self._take(name, weight)
        try:
            yield
        finally:
            self._free += 1
            self._hand_out()

    async def _take(self, name: str, weight: int) -> None:
        line = self._lines.setdefault(name, _WaitLine(weight, self._now, deque()))
        line.weight = weight
        if not line.waiting:
            # A topic that was idle has saved nothing up.
            line.clock = max(line.clock, self._now)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.waiting.append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # It was given just now, and no task is there to take it.
                self._free += 1
                self._hand_out()
            elif turn in line.waiting:
                line.waiting.remove(turn)
            raise

    def _hand_out(self) -> None:
        while self._free:
            lines = [line for line in self._lines.values() if line.waiting]
            if not lines:
                return
            line = min(lines, key=lambda one: one.clock)
            turn = line.waiting.popleft()
            if not turn.done():
                self._free -= 1
                self._now = max(self._now, line.clock)
                line.clock += 1 / line.weight
                turn.set_result(None)
