"""Listening for notices, and counting them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from streamops.wire.notices import listen
from streamops.wire.options import ConnectionOptions

Notice = tuple[str, bytes | None]
CHANNELS = ("{orders}:delayed", "caf\udcff")


@asynccontextmanager
async def listening(options: ConnectionOptions) -> AsyncIterator[list[Notice]]:
    heard: list[Notice] = []
    task = asyncio.create_task(listen(options, CHANNELS, lambda channel, text: heard.append((channel, text))))
    try:
        yield heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def holds(heard: list[Notice], *wanted: Notice) -> Callable[[], bool]:
    return lambda: heard == list(wanted)


HELLO: tuple[Notice, ...] = tuple((channel, None) for channel in CHANNELS)
