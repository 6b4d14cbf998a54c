"""Things that listen on a port and are no Redis server, or a poor one."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress

from streamops.wire.options import ConnectionOptions

Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def loopback(port: int) -> ConnectionOptions:
    """How streamops would reach it."""
    return ConnectionOptions(addresses=(("127.0.0.1", port),), label=f"redis://127.0.0.1:{port}/0")


@asynccontextmanager
async def stranger(speak: Speak) -> AsyncIterator[ConnectionOptions]:
    """Listen, and hand every connection to ``speak``."""
    speaking: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        speaking.add(task)
        try:
            await speak(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        yield loopback(listener.sockets[0].getsockname()[1])
        await asyncio.gather(*speaking, return_exceptions=True)


def saying(answer: bytes) -> Speak:
    """Answer whatever comes with this, and hang up."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer)
        await writer.drain()

    return speak


def answering(replies: Mapping[bytes, bytes]) -> Speak:
    """Answer commands by their first two words, and all others with OK."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            words = [await _word(reader) for _ in range(int(line[1:]))]
            writer.write(replies.get(b" ".join(words[:2]), b"+OK\r\n"))
            await writer.drain()

    return speak


async def _word(reader: asyncio.StreamReader) -> bytes:
    size = int((await reader.readline())[1:])
    return (await reader.readexactly(size + 2))[:-2]
