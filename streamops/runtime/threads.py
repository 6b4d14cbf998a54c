"""Threads that run plain functions. Nothing can cut one off: a call goes on until its function returns.

So whoever is cancelled while a call is under way goes on waiting for it. What ended before its thread does would be
tried again, and run beside itself. Only where the worker itself ends nobody waits any more; it then knows which
entries are still in the hands of a thread.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any

from streamops.runtime.entry import Entry


class Threads:
    """A worker's threads: as many as its handlers may use at once, so that no call waits for one."""

    def __init__(self, number: int) -> None:
        self._executor = ThreadPoolExecutor(number, thread_name_prefix="streamops-handler")
        self._running: dict[Future[Any], Sequence[Entry]] = {}
        self._abandoned = False

    @property
    def running(self) -> list[Entry]:
        """The entries whose calls have not come to their end."""
        return [entry for entries in self._running.copy().values() for entry in entries]

    async def call(self, entries: Sequence[Entry], function: Callable[..., Any], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
        """Call a function in a thread, where context variables are what they are here: a span goes on."""
        running = self._executor.submit(copy_context().run, _called, function, arguments)
        self._running[running] = entries
        running.add_done_callback(self._running.pop)
        ended = asyncio.wrap_future(running)
        try:
            await asyncio.wait([ended])
        except asyncio.CancelledError:
            ended.add_done_callback(_disregard)
            if not running.cancel():
                await self._outlast(ended)
            raise
        return ended.result()

    def abandon(self) -> None:
        """Wait for no call any more: whoever is cancelled from now on is let go at once."""
        self._abandoned = True

    def close(self) -> None:
        """Begin no call any more."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _outlast(self, ended: asyncio.Future[Any]) -> None:
        while not (ended.done() or self._abandoned):
            with suppress(asyncio.CancelledError):
                await asyncio.wait([ended])


def _called(function: Callable[..., Any], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
    try:
        return function(*arguments)
    except StopIteration as error:
        # No future can hold it, and whoever waits would wait for ever.
        raise RuntimeError("it raised StopIteration") from error


def _disregard(ended: asyncio.Future[Any]) -> None:
    """What nobody waits for any more need not be complained about."""
    if not ended.cancelled():
        ended.exception()
