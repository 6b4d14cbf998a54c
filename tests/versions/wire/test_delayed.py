"""Delayed messages as they are stored and read back, scheduled, moved and cancelled."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from hashlib import sha1

import pytest

from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.wire.delayed import read_due, read_messages, read_queues, read_strays
from streamops.wire.delayed_bodies import encode_body
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.server import Server
from streamops.wire.writes.delayed import CHANGED, FOREIGN, GONE, Moved, cancel, move_now, schedule
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.delayed import BODIES, ORDER, QUEUE

pytestmark = pytest.mark.every_server("replies and scripts differ by version")

RETRY = DelayedBody("{orders}:retry:billing", ((b"n", b"1"),), "billing", 3, "17-4")
HOUR = timedelta(hours=1)


@pytest.fixture
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


async def messages_of(server: Server, *ids: str) -> list[DelayedMessage]:
    return [message async for page in read_messages(server, QUEUE, ids) for message in page]


async def test_lua_reads_what_is_written(connected: Server, server: RunningServer) -> None:
    """Whoever moves due messages in a script needs no decoder of its own."""
    body = DelayedBody("orders", ((b"f\xff", b"v" * 70_000),), "g", 2, "1-1")
    await schedule(connected, "orders", "a", body, HOUR)
    script = (
        "local b = cmsgpack.unpack(redis.call('HGET', KEYS[1], 'a')) return {b[2], b[3], b[4], b[5], b[6]}"
    )
    reply = server.command("EVAL", script, 1, BODIES)
    assert reply == [b"orders", b"g", 2, b"1-1", [b"f\xff", b"v" * 70_000]]


async def test_schedule_and_read(connected: Server, server: RunningServer) -> None:
    at = datetime(2031, 5, 1, 12, 0, 0, 5000, tzinfo=UTC)
    assert await schedule(connected, "orders", "a", ORDER, at) == at
    due = await schedule(connected, "orders", "b\udcff", RETRY, HOUR)
    seconds, micros = server.command("TIME")
    assert isinstance(due, datetime)
    left = due - datetime.fromtimestamp(int(seconds) + int(micros) / 1e6, tz=UTC)
    assert timedelta(minutes=59) < left <= HOUR
    assert await schedule(connected, "orders", "a", RETRY, HOUR) is None
    digest = sha1(encode_body(ORDER), usedforsecurity=False).hexdigest()
    assert (await messages_of(connected, "a", "none", "b\udcff"))[:2] == [
        DelayedMessage("a", at, ORDER, digest),
        DelayedMessage("none", None, None, "", "there is no such message"),
    ]
    members = await read_due(connected, QUEUE, limit=10)
    assert members == [("b\udcff", due), ("a", at)]
    assert await read_due(connected, QUEUE, until=due, limit=10) == [("b\udcff", due)]


async def test_members_are_read_from_any_rank_up_to_an_instant(
    connected: Server, server: RunningServer
) -> None:
    for number in range(10):
        server.command("ZADD", QUEUE, number * 1000, f"m{number}")

    async def read(until: int | None, skip: int, limit: int) -> list[str]:
        instant = None if until is None else datetime.fromtimestamp(until, UTC)
        found = await read_due(connected, QUEUE, until=instant, skip=skip, limit=limit)
        assert isinstance(found, list)
        return [one.id for one in found]

    assert await read(None, 0, 3) == ["m0", "m1", "m2"]
    assert await read(None, 8, 3) == ["m8", "m9"]
    assert await read(4, 3, 5) == ["m3", "m4"]
    assert await read(4, 5, 5) == []


async def test_queues_are_counted(connected: Server, server: RunningServer) -> None:
    await schedule(connected, "orders", "late", ORDER, datetime(2020, 1, 1, tzinfo=UTC))
    await schedule(connected, "orders", "early", ORDER, HOUR)
    server.command("ZADD", "{odd}:delayed", "-inf", "a", "+inf", "b")
    server.command("SET", "{wrong}:delayed", "x")
    orders, odd, wrong, none = await read_queues(connected, ["orders", "odd", "wrong", "none"])
    assert (orders.messages, orders.due, orders.bodies) == (2, 1, 2)  # type: ignore[union-attr] # no fault
    assert orders.next_due_at == datetime(2020, 1, 1, tzinfo=UTC)  # type: ignore[union-attr] # the same
    assert (odd.messages, odd.due, odd.bodies, odd.foreign) == (2, 0, 0, 2)  # type: ignore[union-attr] # the same
    assert "no stream" not in wrong.reason  # type: ignore[union-attr] # a fault
    assert (none.messages, none.bodies, none.next_due_at) == (0, 0, None)  # type: ignore[union-attr] # no fault
    assert await read_queues(connected, []) == []


async def test_halves_of_messages(connected: Server, server: RunningServer) -> None:
    server.command("ZADD", QUEUE, 5, "bodiless")
    server.command("HSET", BODIES, "stray", encode_body(ORDER), "broken", b"\xc1")
    server.command("ZADD", QUEUE, 6, "broken")
    bodiless, stray, broken = await messages_of(connected, "bodiless", "stray", "broken")
    assert (bodiless.foreign, bodiless.problem) == (True, "it is no delayed message: it has no body")
    assert stray.problem.startswith("the queue does not name it")
    assert stray.body == ORDER
    assert broken.foreign
    assert broken.problem.startswith("it is no delayed message: ")
    assert await read_strays(connected, QUEUE, 10) == [stray]
    for ident in ("bodiless", "stray"):
        assert await schedule(connected, "orders", ident, ORDER, HOUR) is None


async def test_move(connected: Server, server: RunningServer) -> None:
    for ident in ("a", "b", "c"):
        await schedule(connected, "orders", ident, ORDER, HOUR)
    read = await messages_of(connected, "a", "b", "c")
    server.command("HSET", BODIES, "b", encode_body(RETRY))
    server.command("ZREM", QUEUE, "c")
    moved = await move_now(connected, QUEUE, "orders", read)
    assert isinstance(moved, list)
    entry = moved[0].entry_id
    assert moved[1:] == [Moved(skipped=CHANGED), Moved(skipped=GONE)]
    fields = [b"tag", b"a", b"tag", b"b\xff", b"", b""]
    assert server.command("XRANGE", "orders", "-", "+") == [[str(entry).encode(), fields]]
    assert server.command("ZRANGE", QUEUE, 0, -1) == [b"b"]
    again = await move_now(connected, QUEUE, "orders", read[:1])
    assert again == [Moved(skipped=GONE)]


async def test_a_retry_knows_its_attempt(connected: Server, server: RunningServer) -> None:
    await schedule(connected, "orders", "r", RETRY, HOUR)
    await move_now(connected, QUEUE, RETRY.destination, await messages_of(connected, "r"))
    (entry,) = server.command("XRANGE", RETRY.destination, "-", "+")
    assert entry[1] == [b"n", b"1", b"_so_origin_id", b"17-4", b"_so_attempt", b"3"]


async def test_destination_that_is_no_stream(connected: Server, server: RunningServer) -> None:
    await schedule(connected, "orders", "a", ORDER, HOUR)
    server.command("SET", "orders", "x")
    (moved,) = await move_now(connected, QUEUE, "orders", await messages_of(connected, "a"))  # type: ignore[misc] # no fault
    assert "WRONGTYPE" in moved.error
    assert server.command("ZCARD", QUEUE) == server.command("HLEN", BODIES) == 1


async def test_largest_entry(connected: Server, server: RunningServer) -> None:
    body = DelayedBody("orders", tuple((b"f%d" % number, b"v") for number in range(3_900)))
    await schedule(connected, "orders", "a", body, HOUR)
    moved = await move_now(connected, QUEUE, "orders", await messages_of(connected, "a"))
    assert moved == [Moved(moved[0].entry_id)]  # type: ignore[index] # no fault
    assert server.command("XLEN", "orders") == 1


async def test_out_of_memory(start_server: StartServer, program: ServerProgram) -> None:
    """The write that can fail comes first: nothing is half-moved."""
    server = start_server(program=program)
    connection = await Server.connect(server.options)
    for ident in ("a", "b"):
        await schedule(connection, "orders", ident, ORDER, HOUR)
    read = await messages_of(connection, "a", "b")
    server.command("CONFIG", "SET", "maxmemory", 1)
    moved = await move_now(connection, QUEUE, "orders", read)
    assert isinstance(moved, Fault)
    assert moved.kind is FaultKind.MEMORY
    assert await schedule(connection, "orders", "c", ORDER, HOUR) == moved
    assert await cancel(connection, QUEUE, read[:1]) == [""]
    await connection.close()
    assert server.command("ZRANGE", QUEUE, 0, -1) == server.command("HKEYS", BODIES) == [b"b"]
    assert server.command("EXISTS", "orders") == 0


async def test_cancel(connected: Server, server: RunningServer) -> None:
    for ident in ("a", "b"):
        await schedule(connected, "orders", ident, ORDER, HOUR)
    server.command("ZADD", QUEUE, 5, "bodiless")
    read = await messages_of(connected, "a", "b", "bodiless", "none")
    server.command("HSET", BODIES, "b", encode_body(RETRY))
    assert await cancel(connected, QUEUE, read) == ["", CHANGED, FOREIGN, GONE]
    assert server.command("ZRANGE", QUEUE, 0, -1) == [b"bodiless", b"b"]
    assert server.command("HKEYS", BODIES) == [b"b"]


async def test_large_bodies_come_in_small_pages(connected: Server) -> None:
    large = DelayedBody("orders", ((b"f", b"x" * 300_000),))
    ids = [f"m{number}" for number in range(40)]
    for ident in ids:
        await schedule(connected, "orders", ident, large, HOUR)
    pages = [page async for page in read_messages(connected, QUEUE, ids)]
    assert [message.id for page in pages for message in page] == ids
    assert max(map(len, pages[1:])) <= 4
