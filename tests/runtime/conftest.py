"""Servers of the tests of workers: the oldest version and the newest.

What workers ask of a server is proven on every version in tests/wire/consuming and tests/wire; what they make of its
answers differs only between 6.2, which lacks commands, and those after it.
"""

import pytest

from tests.conftest import PROGRAMS
from tests.servers import RunningServer, ServerPool


@pytest.fixture(params=dict.fromkeys((*PROGRAMS[:1], *PROGRAMS[-1:])), ids=lambda program: program.label)
def server(request: pytest.FixtureRequest, server_pool: ServerPool) -> RunningServer:
    """A flushed server of the oldest version, and of the newest."""
    return server_pool.flushed(request.param)
