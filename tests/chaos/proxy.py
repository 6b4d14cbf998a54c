"""A network that fails on demand, between one worker and its server.

It listens on a unix socket and passes on what comes, each way by itself. A way that is shut holds what it was given,
as a network does that sends again what was not confirmed: where it opens, everything arrives, late, and even what its
sender has given up long ago.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from types import TracebackType
from typing import Self

CHUNK = 1 << 16
PIECES = 20
"""In how many pieces a second replies come over a slow link."""

Watch = Callable[[bytes], bool]
"""Called with each request before it goes on; whether the replies of its connection are lost from now on."""


class Way(Enum):
    """Where bytes go."""

    UP = auto()
    DOWN = auto()


BOTH = frozenset(Way)


class Link:
    """One connection: the client's side and the server's."""

    def __init__(self, up: asyncio.StreamWriter, down: asyncio.StreamWriter) -> None:
        self.writers = {Way.UP: up, Way.DOWN: down}
        self.open = {way: asyncio.Event() for way in Way}
        self.lost: set[Way] = set()
        self.delay = 0.0
        self.share: float | None = None
        self.pace: int | None = None
        for way in self.open.values():
            way.set()

    def cut(self) -> None:
        """Reset both sides at once, whatever is under way."""
        for writer in self.writers.values():
            writer.transport.abort()

    def end(self) -> None:
        """End both sides after what was written already."""
        for writer in self.writers.values():
            writer.close()

    async def carry(self, way: Way, reader: asyncio.StreamReader, watch: Watch | None) -> None:
        """Pass on what comes, until its end."""
        writer = self.writers[way]
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self.open[way].wait()
                if watch is not None and watch(data):
                    self.lost.add(Way.DOWN)
                halved = self.share is not None and way is Way.DOWN
                if way not in self.lost:
                    await self._pass_on(
                        way, data[: max(1, int(len(data) * (self.share or 0)))] if halved else data
                    )
                if halved:
                    self.end()
                    return
            # The news of an end takes the same way.
            await self.open[way].wait()
            if writer.can_write_eof():
                writer.write_eof()

    async def _pass_on(self, way: Way, data: bytes) -> None:
        """Write what came: replies at their pace, a piece after the other."""
        writer = self.writers[way]
        while self.pace is not None and way is Way.DOWN and data:
            size = max(1, self.pace // PIECES)
            writer.write(data[:size])
            data = data[size:]
            await writer.drain()
            await asyncio.sleep(1 / PIECES)
        writer.write(data)
        await writer.drain()


class Proxy:
    """Stands between a client and a server; use it as ``async with``.

    Attributes:
        path: Where it listens.
        watch: Sees each request before it goes on.
    """

    def __init__(self, server: Path, path: Path) -> None:
        self.path = path
        self.watch: Watch | None = None
        self._server = server
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._shut: frozenset[Way] = frozenset()
        self._delay = 0.0
        self._pace: int | None = None
        self._refusing = False

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_unix_server(self._accept, self.path)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.cut()
        await asyncio.sleep(0)

    def cut(self) -> None:
        """End all connections; new ones are welcome."""
        for link in self._links:
            link.cut()

    def refuse(self) -> None:
        """End all connections, and new ones as they come."""
        self._refusing = True
        self.cut()

    def hole(self, ways: frozenset[Way] = BOTH, *, new: bool = True) -> None:
        """Let nothing pass these ways, and say nothing; on new connections neither where ``new``."""
        if new:
            self._shut = ways
        for link in self._links:
            for way in ways:
                link.open[way].clear()

    def lose(self, way: Way = Way.DOWN) -> None:
        """Lose what goes this way on the connections there are, for good: the server acts, and its reply is lost."""
        for link in self._links:
            link.lost.add(way)

    def halve(self, share: float) -> None:
        """Pass on only a share of the next reply on each connection there is, and then end it."""
        for link in self._links:
            link.share = share

    def lead_to(self, server: Path) -> None:
        """Lead new connections to another server, and end those there are."""
        self._server = server
        self.cut()

    def slow_down(self, seconds: float) -> None:
        """Let everything take so much longer."""
        self._delay = seconds
        for link in self._links:
            link.delay = seconds

    def narrow(self, pace: int | None) -> None:
        """Let no more than so many bytes of replies a second pass on each connection, new ones too."""
        self._pace = pace
        for link in self._links:
            link.pace = pace

    def resume(self) -> None:
        """Let everything pass; what was held arrives now."""
        self._refusing, self._shut = False, frozenset()
        self.slow_down(0.0)
        self.narrow(None)
        for link in self._links:
            for way in link.open.values():
                way.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:
            # The streams of asyncio would complain.
            return
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            return
        try:
            replies, up = await asyncio.open_unix_connection(self._server)
        except OSError:
            return
        link = Link(up, writer)
        link.delay, link.pace = self._delay, self._pace
        for way in self._shut:
            link.open[way].clear()
        self._links.add(link)
        try:
            await asyncio.gather(
                link.carry(Way.UP, reader, lambda data: self.watch is not None and self.watch(data)),
                link.carry(Way.DOWN, replies, None),
            )
        finally:
            self._links.discard(link)
            up.transport.abort()
