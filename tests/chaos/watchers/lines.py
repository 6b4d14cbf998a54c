"""Lines between watchers and the server that is in service: each fails on demand, by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Self

from streamops.wire.options import ConnectionOptions
from tests.chaos.proxy import Proxy
from tests.support.servers import RunningServer

CHUNK = 1 << 16


class Line:
    """One watcher's way to the server.

    Attributes:
        proxy: What stands in it.
        options: How the watcher connects.
    """

    def __init__(self, proxy: Proxy, link: Path, patience: timedelta) -> None:
        self.proxy = proxy
        self.options = ConnectionOptions(
            addresses=(), socket_path=str(proxy.path), timeout=patience, label=f"unix://{proxy.path}"
        )
        self._link = link

    def lead_to(self, path: Path) -> None:
        """Let new connections end there."""
        self._link.unlink(missing_ok=True)
        self._link.symlink_to(path)


@asynccontextmanager
async def line(directory: Path, name: str, server: RunningServer, patience: timedelta) -> AsyncIterator[Line]:
    """A line to a server, its sockets in a directory with a short name; how long its watcher waits for a reply."""
    link = directory / f"{name}-to"
    async with Proxy(link, directory / name) as proxy:
        made = Line(proxy, link, patience)
        made.lead_to(server.socket_path)
        yield made


class Halver:
    """A server's place in lines for a while: it passes replies on until some bytes of them, and hangs up in the midst."""

    def __init__(self, server: Path, path: Path, random: Random) -> None:
        self.path = path
        self._server = server
        self._random = random
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_unix_server(self._accept, self.path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        replies, up = await asyncio.open_unix_connection(self._server)
        ask = asyncio.create_task(_pass_on(reader, up))
        try:
            left = self._random.randint(1, 12_000)
            while left > 0 and (data := await replies.read(CHUNK)):
                writer.write(data[:left])
                await writer.drain()
                left -= len(data)
        finally:
            ask.cancel()
            up.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
