"""Business keys: whoever came first has one, and keeps it."""

from datetime import timedelta

import pytest

from streamops.wire.consuming.guarding import Guards
from streamops.wire.keys import done_key
from streamops.wire.server import Server
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


KEY = done_key("s", "g", "order-7")
HOUR = timedelta(hours=1)


async def test_who_came_first_keeps_its_key_whoever_asks(server: RunningServer) -> None:
    client = Server(server.options)
    guards = Guards(client)
    try:
        for origin in (b"1-1", b"2-1", b"1-1"):
            assert await guards.take("s", [(KEY, origin)], HOUR) == [b"1-1"]
        assert await guards.take("s", [(KEY, b"3-1"), (done_key("s", "g", "other"), b"3-1")], HOUR) == [
            b"1-1",
            b"3-1",
        ]
    finally:
        await client.close()
