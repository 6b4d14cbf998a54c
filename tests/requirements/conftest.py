"""Fixtures of the requirements' tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamops.wire.options import ConnectionOptions
from tests.requirements.processes import Commands
from tests.runtime.leftovers import assert_tidy
from tests.servers import RunningServer


@pytest.fixture
def redis(any_server: RunningServer) -> Iterator[ConnectionOptions]:
    """A server; what an application leaves on it at the end must have a name."""
    yield any_server.options
    assert_tidy(any_server)


@pytest.fixture
def commands(any_server: RunningServer, tmp_path: Path) -> Commands:
    """The command line in processes of its own, on the same server."""
    return Commands(any_server, tmp_path)
