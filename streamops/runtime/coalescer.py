"""Coalesces calls: all that are made in the same turn of the event loop are sent as one.

A batch of a thousand that fails is settled in ten calls and not in a thousand, by the code that settles one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from streamops.errors import ServerError, StreamopsError
from streamops.runtime.entry import ConsumerStream

Row = TypeVar("Row")
Answer = TypeVar("Answer")


class Coalescer(Generic[Row, Answer]):
    """One kind of call, for many rows of one stream at once."""

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
