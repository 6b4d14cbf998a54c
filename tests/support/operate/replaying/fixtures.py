"""Fixtures of the tests that replay."""

from collections.abc import AsyncIterator

import pytest

from streamops.operate.console import Console
from tests.support.servers import RunningServer


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options) as opened:
        yield opened
