"""The calls that settle entries: whoever asks in the same turn of the event loop is asked for together.

A batch of a thousand that fails is settled in ten calls and not in a thousand, by the code that settles one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final, Generic, TypeVar

from streamops.errors import ServerError
from streamops.model.deliveries import Letter, Retry, Settled, Start
from streamops.runtime.entry import Side
from streamops.wire.consuming.settling import bury_all, mark_starts, retry_all
from streamops.wire.server import Server

MARKS_KEPT: Final = timedelta(days=7)
"""How long marks of starts are remembered after the last one."""

Row = TypeVar("Row")
Answer = TypeVar("Answer")


class Coalescer(Generic[Row, Answer]):
    """One kind of call, for many rows of one side at once."""

    def __init__(self, ask: Callable[[Side, Sequence[Row]], Awaitable[Sequence[Answer]]]) -> None:
        self._ask = ask
        self._waiting: dict[Side, list[tuple[Row, asyncio.Future[Answer]]]] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def ask(self, side: Side, row: Row) -> Answer:
        """The answer for one row.

        Raises:
            ServerError: The server did not answer, or refused.
        """
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(side, [])
        waiting.append((row, answer))
        if len(waiting) == 1:
            # It begins once the event loop turns, for all who come before that; none of them ends it for the others.
            asking = asyncio.create_task(self._ask_for_all(side))
            self._asking.add(asking)
            asking.add_done_callback(self._asking.discard)
        return await answer

    async def _ask_for_all(self, side: Side) -> None:
        asked = self._waiting.pop(side)
        try:
            await self._ask_for(side, asked)
        finally:
            # Where the event loop ends, nobody is left waiting.
            for _, answer in asked:
                answer.cancel()

    async def _ask_for(self, side: Side, asked: list[tuple[Row, asyncio.Future[Answer]]]) -> None:
        outcomes: Sequence[Answer | Exception]
        try:
            outcomes = await self._ask(side, [row for row, _ in asked])
        except ServerError as error:
            # An error that is raised twice grows two tracebacks.
            outcomes = [error.copy() for _ in asked]
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            if len(asked) > 1:
                # One of them cannot even be asked for; the others are not to suffer for it.
                for one in asked:
                    await self._ask_for(side, [one])
                return
            outcomes = [error]
        for (_, answer), outcome in zip(asked, outcomes, strict=True):
            _give(answer, outcome)


class OutcomeCalls:
    """Marks of starts, retries and dead letters of one worker's entries.

    Attributes:
        mark: Marks a start; how many marks the entry has now, or why it was not marked.
        retry: Moves an entry into the delayed queue.
        bury: Gives an entry up.
    """

    def __init__(self, server: Server) -> None:
        async def mark(side: Side, rows: Sequence[Start]) -> Sequence[int | Settled]:
            return await mark_starts(
                server, side.subscription, retries=side.retries, rows=rows, ttl=MARKS_KEPT
            )

        async def retry(side: Side, rows: Sequence[Retry]) -> Sequence[Settled]:
            return await retry_all(server, side.subscription, retries=side.retries, rows=rows)

        async def bury(side: Side, letters: Sequence[Letter]) -> Sequence[Settled]:
            return await bury_all(server, side.subscription, retries=side.retries, letters=letters)

        self.mark = Coalescer(mark).ask
        self.retry = Coalescer(retry).ask
        self.bury = Coalescer(bury).ask


def _give(answer: asyncio.Future[Answer], outcome: Answer | Exception) -> None:
    if answer.done():
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)
