"""Shared by the tests of server."""

import asyncio
import os
import re
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp

from streamops.tui.web.server import ConsoleServer

PATIENCE: Final = 15.0


async def read_until(socket: aiohttp.ClientWebSocketResponse, pattern: bytes) -> re.Match[bytes]:
    """Read what the console draws until it has drawn something."""
    drawn = b""
    async with asyncio.timeout(PATIENCE):
        while True:
            message = await socket.receive()
            assert message.type is aiohttp.WSMsgType.BINARY, (message, drawn[-300:])
            drawn += message.data
            if found := re.search(pattern, drawn):
                return found


async def ended(pid: int) -> None:
    """Wait until a process is gone."""
    async with asyncio.timeout(PATIENCE):
        while is_running(pid):  # noqa: ASYNC110 - it is a child of somebody else's
            await asyncio.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


TOKEN: Final = "t" * 43
COMMAND: Final = (sys.executable, "-m", "tests.support.tui.web.shop_console")
ECHO: Final = (sys.executable, "-m", "tests.support.tui.web.echo")
ENVIRONMENT: Final = {"SECRET": "s3cret"}


class Client:
    """Talks to the server as a page would.

    Attributes:
        port: The server's.
        origin: Where it comes from.
    """

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.session = session
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"

    async def status(self, path: str = "/", **headers: str) -> int:
        async with self.session.get(f"{self.origin}{path}", headers=headers) as answer:
            await answer.read()
            return answer.status

    async def open(
        self, token: str = TOKEN, size: str = "?width=200&height=40"
    ) -> aiohttp.ClientWebSocketResponse:
        socket = await self.session.ws_connect(f"{self.origin}/ws{size}", headers={"Origin": self.origin})
        await socket.send_str(token)
        return socket


def new_server(command: tuple[str, ...] = COMMAND, *, port: int = 0) -> ConsoleServer:
    return ConsoleServer(shlex.join(command), "127.0.0.1", port, token=TOKEN, environment=ENVIRONMENT)


@asynccontextmanager
async def served(command: tuple[str, ...] = COMMAND) -> AsyncIterator[Client]:
    async with new_server(command).serving() as port, aiohttp.ClientSession() as session:
        yield Client(session, port)


async def pid_of(socket: aiohttp.ClientWebSocketResponse) -> int:
    return int((await read_until(socket, rb"pid-(\d+)"))[1])
