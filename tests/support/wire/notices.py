"""Listening for notices, and counting them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from streamops.wire.consuming.promoting import QUIET, listen
from streamops.wire.options import ConnectionOptions

Notice = tuple[str, bytes | None]
CHANNELS = ("{orders}:delayed", "caf\udcff")


@asynccontextmanager
async def listening(options: ConnectionOptions, quiet: float = QUIET) -> AsyncIterator[list[Notice]]:
    heard: list[Notice] = []

    def hear(channel: str, text: bytes | None) -> None:
        heard.append((channel, text))

    task = asyncio.create_task(listen(options, CHANNELS, hear, quiet=quiet, pause=0.01))
    try:
        yield heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def holds(heard: list[Notice], *wanted: Notice) -> Callable[[], bool]:
    return lambda: heard == list(wanted)


HELLO: tuple[Notice, ...] = tuple((channel, None) for channel in CHANNELS)
