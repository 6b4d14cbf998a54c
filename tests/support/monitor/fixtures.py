"""Connections to servers, and who looks at lags over them."""

from collections.abc import AsyncIterator

import pytest

from streamops.monitor.arrivals import ArrivalReader
from streamops.monitor.context import ServerContext
from streamops.monitor.counting import CountBudget
from streamops.operations.console import Console
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.support.monitor.lag_watching import TIGHT, Watcher
from tests.support.servers import RunningServer


@pytest.fixture
def patient(connected: Server) -> Watcher:
    return Watcher(connected, CountBudget())


@pytest.fixture
def tight(connected: Server) -> Watcher:
    return Watcher(connected, TIGHT)


@pytest.fixture(params=["scripts", "shipped"])
def depth(request: pytest.FixtureRequest, server: RunningServer) -> Depth:
    if request.param == "shipped":
        return Depth.TRANSACTION
    return Depth.SCRIPT if server.label == "redis-6.2" else Depth.READ_ONLY_SCRIPT


@pytest.fixture
async def reader(server: RunningServer) -> AsyncIterator[ArrivalReader]:
    connection = await Server.connect(server.options)
    yield ArrivalReader(ServerContext(connection))
    await connection.close()


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options) as opened:
        yield opened
