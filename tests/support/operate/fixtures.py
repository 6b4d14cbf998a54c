"""Connections to servers, and who looks at lags over them."""

from collections.abc import AsyncIterator

import pytest

from streamops.operate.tallies import CountBudget
from streamops.wire.server import Server
from tests.support.operate.lag_watching import TIGHT, Watcher
from tests.support.servers import RunningServer


@pytest.fixture
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


@pytest.fixture
def patient(connected: Server) -> Watcher:
    return Watcher(connected, CountBudget())


@pytest.fixture
def tight(connected: Server) -> Watcher:
    return Watcher(connected, TIGHT)
