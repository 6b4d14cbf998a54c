"""Fixtures of the tests of operations."""

from collections.abc import AsyncIterator

import pytest

from streamops.operations.console import Console
from tests.support.operations.doing import open_console
from tests.support.servers import RunningServer


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await open_console(server) as opened:
        yield opened
