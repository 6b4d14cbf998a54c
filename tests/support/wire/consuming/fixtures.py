"""A stream and its consumers, on every version."""

from collections.abc import AsyncIterator

import pytest_asyncio

from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.consuming.shop import Shop


@pytest_asyncio.fixture
async def shop(server: RunningServer) -> AsyncIterator[Shop]:
    connection = await Server.connect(server.options)
    yield Shop(server, connection)
    await connection.close()
