"""A client as the demo's cast uses it."""

from collections.abc import AsyncIterator

import pytest_asyncio

from streamops.demo.client import DemoClient
from tests.support.servers import RunningServer


@pytest_asyncio.fixture
async def client(server: RunningServer) -> AsyncIterator[DemoClient]:
    client = DemoClient(server.options)
    yield client
    await client.close()
