"""Every way to a server: TCP, unix socket, database, ACL user, TLS."""

import pytest
from msgspec.structs import replace

from tests.support.servers import RunningServer
from tests.support.wire.connect import mark, read_marker

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_tcp_and_unix_socket(server: RunningServer) -> None:
    mark(server)
    assert await read_marker(server.tcp_options) == b"here"
    assert await read_marker(server.options) == b"here"


async def test_database(server: RunningServer) -> None:
    mark(server)
    server.connect(db=3).xadd("marker", {"is": "in three"})
    for options in (server.options, server.tcp_options):
        assert await read_marker(replace(options, database=3)) == b"in three"
        assert await read_marker(options) == b"here"
