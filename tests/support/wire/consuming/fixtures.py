"""A stream and its consumers, on every version."""

from collections.abc import AsyncIterator

import pytest_asyncio

from streamops.wire.server import Server
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.consuming.shop import Shop


@pytest_asyncio.fixture
async def shop(server: RunningServer) -> AsyncIterator[Shop]:
    connection = await Server.connect(server.options)
    yield Shop(server, connection)
    await connection.close()


@pytest_asyncio.fixture
async def full_shop(program: ServerProgram, start_server: StartServer) -> AsyncIterator[Shop]:
    """A shop whose server gets out of memory with ``CONFIG SET maxmemory``."""
    running = start_server("--maxmemory-policy", "noeviction", program=program)
    connection = await Server.connect(running.options)
    yield Shop(running, connection)
    await connection.close()
