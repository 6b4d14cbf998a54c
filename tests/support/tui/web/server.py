"""Shared by the tests of server."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp

from streamops.tui.web.server import WebOptions, serving

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
        await socket.send_json(["token", token])
        return socket


@asynccontextmanager
async def served(*, command: tuple[str, ...] = COMMAND, most: int = 4) -> AsyncIterator[Client]:
    options = WebOptions(
        host="127.0.0.1", port=0, token=TOKEN, command=command, environment=os.environ, most=most
    )
    async with serving(options) as port, aiohttp.ClientSession() as session:
        yield Client(session, port)


async def pid_of(socket: aiohttp.ClientWebSocketResponse) -> int:
    return int((await read_until(socket, rb"pid-(\d+)"))[1])
