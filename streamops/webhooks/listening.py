"""Listening for the intake: connections bounded in number, and in how long they may say nothing.

Importing this imports aiohttp.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from streamops.errors import StreamopsError
from streamops.service.listening import new_runner

IDLE_SECONDS: Final = 15.0
"""How long a connection may be open without a whole request on it."""

GRACE_SECONDS: Final = 120.0
"""How long answers under way may take when it is told to stop."""


class _Turned(asyncio.Protocol):
    """Closes a connection that is one too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        if isinstance(transport, asyncio.Transport):
            transport.abort()


@asynccontextmanager
async def listening(app: web.Application, host: str, port: int, most: int) -> AsyncIterator[int]:
    """Serve an application; the port, which the kernel chooses where it is zero.

    Args:
        app: What to serve.
        host: Where to listen.
        port: At which port.
        most: Connections at once; further ones are closed.

    Raises:
        StreamopsError: The address cannot be listened at.
    """
    runner = new_runner(app, idle=IDLE_SECONDS, grace=GRACE_SECONDS)
    await runner.setup()
    serving = runner.server
    if serving is None:
        raise StreamopsError("the intake cannot be set up")

    def accept() -> asyncio.BaseProtocol:
        return serving() if len(serving.connections) < most else _Turned()

    try:
        problem = None
        try:
            server = await asyncio.get_running_loop().create_server(accept, host, port)
        except OSError as error:
            problem = error.strerror or str(error)
        if problem is not None:
            raise StreamopsError(
                f"cannot listen at {host}:{port}: {problem}",
                "Choose another address with --listen HOST:PORT.",
            )
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
    finally:
        await runner.cleanup()
