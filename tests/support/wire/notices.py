"""Listening for notices, and counting them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress

from streamops.wire.consuming.promoting import QUIET, Notice, listen
from streamops.wire.options import ConnectionOptions

CHANNELS = ("{orders}:delayed", "caf\udcff")


@asynccontextmanager
async def listening(options: ConnectionOptions, quiet: float = QUIET) -> AsyncIterator[list[Notice]]:
    heard: list[Notice] = []

    async def hear() -> None:
        async with aclosing(listen(options, CHANNELS, quiet=quiet, pause=0.01)) as notices:
            async for channel, text in notices:
                heard.append((channel, text))

    task = asyncio.create_task(hear())
    try:
        yield heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def holds(heard: list[Notice], *wanted: Notice) -> Callable[[], bool]:
    return lambda: heard == list(wanted)


HELLO: tuple[Notice, ...] = tuple((channel, None) for channel in CHANNELS)
