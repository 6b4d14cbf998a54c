"""Moving due messages: what becomes of them, of what cannot be moved, and when the server refuses."""

from datetime import timedelta

import pytest

from streamops.errors import ServerError
from streamops.model.delayed import DelayedBody
from streamops.wire.consuming.promoting import Refusal, promote_due
from streamops.wire.delayed_writes import MessageToDelay, schedule_many
from streamops.wire.server import Server
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import parts_of
from tests.support.wire.consuming.promoting import (
    BODIES,
    LONG_AGO_MS,
    ORDER,
    QUEUE,
    RETRIES,
    RETRY,
    delay,
    pump_all,
)
from tests.support.wire.fixtures import SetUser

pytestmark = pytest.mark.every_server("replies and scripts differ by version")

HOUR = timedelta(hours=1)


async def test_the_first_due_comes_first(connected: Server, server: RunningServer) -> None:
    one, two, three = (DelayedBody("orders", ((b"n", b"%d" % number),)) for number in (1, 2, 3))
    await delay(connected, ("z", one, 0), ("m", three, 2), ("a", two, 1))
    await schedule_many(connected, "orders", [MessageToDelay("later", ORDER, HOUR)])
    first = await promote_due(connected, "orders", limit=2)
    assert (first.moved, first.next_due_ms, first.wait) == (2, LONG_AGO_MS + 2, timedelta())
    second = await pump_all(connected)
    assert second.moved == 1
    assert second.wait is not None
    assert timedelta(minutes=59) < second.wait <= HOUR
    assert parts_of(server, "orders") == [[b"n", b"1"], [b"n", b"2"], [b"n", b"3"]]
    assert server.command("ZRANGE", QUEUE, 0, -1) == server.command("HKEYS", BODIES) == [b"later"]


@pytest.mark.parametrize("group", ["billing", "a:b%c"])
async def test_a_retry_stream_gets_its_group(connected: Server, server: RunningServer, group: str) -> None:
    key = "{orders}:retry:" + group.replace("%", "%25").replace(":", "%3A")
    for ident in ("a", "b"):
        await delay(connected, (ident, DelayedBody(key, RETRY.fields, group, 2, "1-1"), 0))
        assert (await pump_all(connected, key)).moved == 1
    rows = server.command("XREADGROUP", "GROUP", group, "w", "STREAMS", key, ">")
    assert [len(entries) for _, entries in rows] == [2]


async def test_the_widest_entry(connected: Server, server: RunningServer) -> None:
    widest = tuple((b"f%d" % number, b"v") for number in range(3_898))
    await delay(connected, ("plain", DelayedBody("orders", widest), 0))
    await delay(connected, ("retry", DelayedBody(RETRIES, widest, "billing", 2, "1-1"), 1))
    await delay(connected, ("wider", DelayedBody("orders", (*widest, (b"f", b"v"))), 2), ("a", ORDER, 3))
    promotion = await pump_all(connected, RETRIES)
    assert promotion.moved == 3
    assert promotion.buried == (("wider", "it has more fields than a script can write"),)
    assert [len(entry) for entry in (*parts_of(server, "orders"), *parts_of(server, RETRIES))] == [
        7_796,
        6,
        7_800,
    ]


async def test_pumping_without_memory_moves_nothing_by_half(
    start_server: StartServer, program: ServerProgram
) -> None:
    server = start_server(program=program)
    connection = await Server.connect(server.options)
    await delay(connection, ("a", ORDER, 0), ("b", ORDER, 1))
    server.command("ZADD", QUEUE, 5, "no_body")
    before = server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES")
    server.command("CONFIG", "SET", "maxmemory", 1)
    with pytest.raises(ServerError, match="out of memory"):
        await promote_due(connection, "orders")
    assert server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES") == before
    assert server.command("EXISTS", "orders") == 0
    server.command("CONFIG", "SET", "maxmemory", 0)
    assert (await pump_all(connection)).moved == 2
    await connection.close()


@pytest.mark.parametrize("rules", [["-xadd"], ["-xgroup"], ["-xinfo"]])
async def test_permissions_for_destinations(
    connected: Server, server: RunningServer, as_user: SetUser, rules: list[str]
) -> None:
    server.command("XGROUP", "CREATE", RETRIES, "billing", "0", "MKSTREAM")
    await delay(connected, ("r", RETRY, 0))
    user = await Server.connect(as_user("~*", "+@all", *rules))
    promotion = await promote_due(user, "orders", [RETRIES])
    await user.close()
    left = 1 - promotion.moved
    assert promotion.moved == (0 if rules == ["-xadd"] else 1)
    assert [Refusal(RETRIES, one.error, 1) for one in promotion.refused] == [*promotion.refused][:left]
    assert server.command("XLEN", RETRIES) + server.command("ZCARD", QUEUE) == 1
    assert server.command("HLEN", BODIES) == left
