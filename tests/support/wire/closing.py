"""Leaving a server amid its work, at many moments."""

import asyncio
import gc
import warnings
from contextlib import suppress

import pytest

from streamops.errors import Unreachable
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.support.eventually import eventually
from tests.support.servers import RunningServer

PINGS = 3


async def pass_turns(turns: int) -> None:
    """Let the event loop go round a number of times."""
    for _ in range(turns):
        await asyncio.sleep(0)


async def ping_forever(options: ConnectionOptions) -> None:
    """Use several connections until cancelled; close them then."""
    server = await Server.connect(options)
    try:
        while True:
            await asyncio.gather(*(server.ping() for _ in range(PINGS)))
    finally:
        await server.close()


def leave(options: ConnectionOptions, turns: int, more: int) -> None:
    """Cancel after some turns of the event loop; some turns later the loop ends, and cancels again."""

    async def begin_and_cancel() -> None:
        work = asyncio.create_task(ping_forever(options))
        await pass_turns(turns)
        work.cancel()
        await pass_turns(more)

    asyncio.run(begin_and_cancel())


def check_leaving(options: ConnectionOptions) -> None:
    """Leave at many moments; Python would warn of whatever was left open."""
    gc.collect()
    with warnings.catch_warnings(record=True) as complaints:
        warnings.simplefilter("always")
        for turns in range(0, 90, 9):
            for more in (0, 2, 5):
                leave(options, turns, more)
        gc.collect()
    assert [str(complaint.message) for complaint in complaints] == []


def connections(server: RunningServer) -> int:
    """How many clients the server has, those of the tests included."""
    return len(server.command("CLIENT", "LIST", "TYPE", "NORMAL").splitlines())


async def check_closing(options: ConnectionOptions, *asked: RunningServer) -> None:
    """Close at every moment that a batch may be in: connecting, greeting, sending, reading."""
    before = [connections(server) for server in asked]
    closed = []
    for turns in range(0, 60, 3):
        server = Server(options)
        batch = asyncio.create_task(server.ping())
        await pass_turns(turns)
        await server.close()
        with suppress(Unreachable):
            await batch
        with pytest.raises(Unreachable):
            await server.ping()
        # Kept, so that nothing is closed by being forgotten.
        closed.append(server)
    await eventually(lambda: [connections(server) for server in asked] == before)
