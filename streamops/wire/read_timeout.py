"""How long a server may be silent before it is given up."""

import asyncio
from types import TracebackType
from typing import Final, final

LATE: Final = 0.1
"""Seconds by which a timer that is due may be late before this process, and not the server, is what stood still."""


@final
class ReadTimeout:
    """Gives up what is done inside, by a ``TimeoutError``, after so long a silence; used once.

    Where this process itself stood still meanwhile (suspended, starved, or busy with a handler that blocks), a reply may
    have come that were not looked at: then the limit starts anew, once for each silence.

    Args:
        seconds: The limit.
    """

    __slots__ = ("_due", "_excused", "_loop", "_scope", "_seconds", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._scope = asyncio.timeout(None)
        self._excused = False

    async def __aenter__(self) -> "ReadTimeout":
        await self._scope.__aenter__()
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time() + self._seconds
        self._timer = self._loop.call_at(self._due, self._look)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        await self._scope.__aexit__(kind, error, trace)

    def broken(self) -> None:
        """Something was heard: the limit starts anew."""
        # The timer finds it when it is due: to set one costs more than to read a piece of a reply.
        self._due = self._loop.time() + self._seconds
        self._excused = False

    def _look(self) -> None:
        now = self._loop.time()
        if now - self._due > LATE and not self._excused:
            self._excused = True
            self._due = now + self._seconds
        if now < self._due:
            self._timer = self._loop.call_at(self._due, self._look)
        else:
            self._scope.reschedule(now)
