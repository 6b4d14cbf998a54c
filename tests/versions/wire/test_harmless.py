"""Asking whether a user may write says so, and writes nothing, whatever kind of key it meets."""

import pytest

from streamops.wire.permissions import refused_writes
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.harmless import COMMANDS, KEYS, add_a_key_of_each_type, state

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_nothing_is_written(server: RunningServer) -> None:
    before = add_a_key_of_each_type(server)
    connection = await Server.connect(server.options)
    writes = [(command, key) for command in COMMANDS for key in KEYS]
    assert await refused_writes(connection, writes) == []
    await connection.close()
    assert state(server) == before
