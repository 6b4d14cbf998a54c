"""Fixtures of the requirements' tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamops.wire.options import ConnectionOptions
from tests.support.requirements.processes import Commands
from tests.support.runtime.leftovers import assert_tidy
from tests.support.servers import RunningServer


@pytest.fixture
def redis(server: RunningServer) -> Iterator[ConnectionOptions]:
    """A server; what an application leaves on it at the end must have a name."""
    yield server.options
    assert_tidy(server)


@pytest.fixture
def commands(server: RunningServer, tmp_path: Path) -> Commands:
    """The command line in processes of its own, on the same server."""
    return Commands(server, tmp_path)
