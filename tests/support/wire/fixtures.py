"""ACL users of a test server."""

from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from msgspec.structs import replace

from streamops.wire.options import ConnectionOptions, Secret
from streamops.wire.server import Server
from tests.support.servers import RunningServer

SetUser = Callable[..., ConnectionOptions]


@pytest.fixture
def as_user(server: RunningServer) -> Iterator[SetUser]:
    """``as_user("~*", "+@all", "-xrange")``: how a user with these rules reaches ``server``."""

    def set_user(*rules: str) -> ConnectionOptions:
        server.command("ACL", "SETUSER", "observer", "reset", "on", ">right", *rules)
        return replace(server.options, username="observer", password=Secret("right"))

    yield set_user
    server.command("ACL", "DELUSER", "observer")


@pytest.fixture
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()
