"""Users of a test server with the rules of a worker, and fewer."""

from collections.abc import Iterator

import pytest

from tests.support.runtime.permissions import USER, Users
from tests.support.servers import RunningServer


@pytest.fixture
def users(server: RunningServer) -> Iterator[Users]:
    yield Users(server)
    server.command("ACL", "DELUSER", USER)
