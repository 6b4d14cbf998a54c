"""Giving rows back: those that lie together at once, and the same of each as if it were alone."""

import pytest

from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.restore_rows import deliver, restored, then

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_rows_get_back_what_each_of_them_had(connected: Server, server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "orders", "g", "0", "MKSTREAM")
    deliver(server, "rescuer", *range(1, 7))
    for number in (2, 3, 6):
        server.command("XCLAIM", "orders", "g", "rescuer", 0, f"{number}-0", "RETRYCOUNT", 4)
    rows = [
        then(number, "a" if number < 5 else "b", 4 if number in {2, 3, 6} else 1) for number in range(1, 7)
    ]
    assert await restored(connected, *rows) == ["restored"] * 6
    told = [(row[1], row[3]) for row in server.command("XPENDING", "orders", "g", "-", "+", 10)]
    assert told == [(b"a", 1), (b"a", 4), (b"a", 4), (b"a", 1), (b"b", 1), (b"b", 4)]
