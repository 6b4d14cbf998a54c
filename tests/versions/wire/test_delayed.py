"""Delayed messages as they are stored and read back, scheduled, moved and cancelled."""

import pytest

from streamops.model.delayed import DelayedBody
from streamops.wire.delayed_writes import DelayedMove, move_now, schedule
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.delayed import BODIES, HOUR, QUEUE, messages_of

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_lua_reads_what_is_written(connected: Server, server: RunningServer) -> None:
    """Whoever moves due messages in a script needs no decoder of its own."""
    body = DelayedBody("orders", ((b"f\xff", b"v" * 70_000),), "g", 2, "1-1")
    await schedule(connected, "orders", "a", body, HOUR)
    script = (
        "local b = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'a')) return {b[2], b[3], b[4], b[5], b[6]}"
    )
    reply = server.command("EVAL", script, 1, BODIES)
    assert reply == [b"orders", b"g", 2, b"1-1", [b"f\xff", b"v" * 70_000]]


async def test_the_largest_entry_that_a_script_can_write_is_moved(
    connected: Server, server: RunningServer
) -> None:
    body = DelayedBody("orders", tuple((b"f%d" % number, b"v") for number in range(3_900)))
    await schedule(connected, "orders", "a", body, HOUR)
    moved = await move_now(connected, QUEUE, "orders", await messages_of(connected, "a"))
    assert moved == [DelayedMove(moved[0].entry_id)]
    assert server.command("XLEN", "orders") == 1
