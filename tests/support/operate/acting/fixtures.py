"""Fixtures of the engine's tests."""

from collections.abc import AsyncIterator

import pytest

from streamops.operate.acting import jobs
from streamops.wire.server import Server
from tests.support.servers import RunningServer


@pytest.fixture
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


@pytest.fixture
def always_beating(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch gives a sign of life, however quick it was."""
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.0)
