"""Shared by the tests of server."""

import asyncio
import os
import re
from typing import Final

import aiohttp

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
