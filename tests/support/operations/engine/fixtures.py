"""Fixtures of the engine's tests."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from streamops.operations import jobs
from streamops.operations.console import Console
from tests.support.operations.engine.acl import USER, Stage
from tests.support.operations.engine.engine import ANN, add_three_pending
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer


@pytest.fixture
def always_beating(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch gives a sign of life, however quick it was."""
    monkeypatch.setattr(jobs, "HEARTBEAT_SECONDS", 0.0)


@pytest.fixture
def stage(server: RunningServer, tmp_path: Path) -> Iterator[Stage]:
    yield Stage(server, tmp_path)
    server.command("ACL", "DELUSER", USER)


@pytest.fixture
def own_server(program: ServerProgram, start_server: StartServer) -> RunningServer:
    """A server of each version whose users and configuration may be changed."""
    # A replica that asks is served at once.
    server = start_server("--repl-diskless-sync-delay", "0", program=program)
    add_three_pending(server)
    return server


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    """A console of a server with three pending entries."""
    add_three_pending(server)
    async with await Console.open(server.options, actor=ANN) as console:
        yield console
