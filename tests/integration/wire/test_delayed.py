"""Delayed messages as they are stored and read back, scheduled, moved and cancelled."""

from datetime import UTC, datetime, timedelta
from hashlib import sha1

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import ServerError
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.wire.delayed import decode_body, encode_body, read_due, read_messages, read_queues, read_strays
from streamops.wire.delayed_writes import CHANGED, FOREIGN, GONE, DelayedMove, cancel, move_now, schedule
from streamops.wire.server import Server
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.strategies import names
from tests.support.wire.delayed import BODIES, HOUR, ORDER, QUEUE, messages_of


def bodies() -> st.SearchStrategy[DelayedBody]:
    field = st.tuples(st.binary(max_size=40), st.one_of(st.binary(max_size=300), st.just(b"x" * 70_000)))
    return st.builds(
        DelayedBody,
        names().filter(bool),
        st.lists(field, min_size=1, max_size=4).map(tuple),
        names(),
        st.integers(0, 2**63 - 1),
        names(),
    )


@given(bodies())
def test_bodies_come_back_as_they_were(body: DelayedBody) -> None:
    assert decode_body(encode_body(body)) == body


def test_bodies_of_other_writers() -> None:
    raw = msgspec.msgpack.encode([1, b"orders", None, None, "", [b"f\xff", b"v" * 300, "g", b""]])
    assert decode_body(raw) == DelayedBody("orders", ((b"f\xff", b"v" * 300), (b"g", b"")))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([2, "orders", "", 0, "", ["f", "v"]], "version 2"),
        ([1, "orders", "", 0, "", ["f"]], "no pairs"),
        ([1, "orders", "", 0, "", []], "no pairs"),
        ([1, "", "", 0, "", ["f", "v"]], "no destination"),
        ([1, "orders", "", 0, "", ["f", 7]], "no text"),
        ([1, "orders"], "length 6"),
        ("orders", "array"),
        ({"v": 1}, "array"),
    ],
)
def test_bodies_that_cannot_be_read(value: object, reason: str) -> None:
    raw = msgspec.msgpack.encode(value)
    with pytest.raises(ValueError, match=reason):
        decode_body(raw)


def test_bodies_that_are_broken() -> None:
    raw = encode_body(ORDER)
    for broken in (*(raw[:end] for end in range(len(raw))), b"\xc1", raw + b"\x00"):
        with pytest.raises(ValueError, match=r"truncated|malformed"):
            decode_body(broken)


async def test_to_skip_members_the_server_does_not_walk_over_them(start_server: StartServer) -> None:
    server = start_server("--slowlog-log-slower-than", "0")
    server.command("ZADD", QUEUE, 1, "a", 2, "b")
    connected = await Server.connect(server.options)
    await read_due(connected, QUEUE, until=datetime(2031, 5, 1, tzinfo=UTC), skip=1, limit=1)
    await connected.close()
    sent = [row[3] for row in server.command("SLOWLOG", "GET", -1)]
    assert [words for words in sent if words[0] == b"ZRANGE"] == [
        [b"ZRANGE", QUEUE.encode(), b"1", b"1", b"WITHSCORES"]
    ]


RETRY = DelayedBody("{orders}:retry:billing", ((b"n", b"1"),), "billing", 3, "17-4")


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


async def test_a_member_without_a_body_and_a_body_without_a_member_are_told(
    connected: Server, server: RunningServer
) -> None:
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


async def test_messages_moved_are_those_that_have_not_changed_since(
    connected: Server, server: RunningServer
) -> None:
    for ident in ("a", "b", "c"):
        await schedule(connected, "orders", ident, ORDER, HOUR)
    read = await messages_of(connected, "a", "b", "c")
    server.command("HSET", BODIES, "b", encode_body(RETRY))
    server.command("ZREM", QUEUE, "c")
    moved = await move_now(connected, QUEUE, "orders", read)
    assert isinstance(moved, list)
    entry = moved[0].entry_id
    assert moved[1:] == [DelayedMove(skipped=CHANGED), DelayedMove(skipped=GONE)]
    fields = [b"tag", b"a", b"tag", b"b\xff", b"", b""]
    assert server.command("XRANGE", "orders", "-", "+") == [[str(entry).encode(), fields]]
    assert server.command("ZRANGE", QUEUE, 0, -1) == [b"b"]
    again = await move_now(connected, QUEUE, "orders", read[:1])
    assert again == [DelayedMove(skipped=GONE)]


async def test_a_retry_knows_its_attempt(connected: Server, server: RunningServer) -> None:
    await schedule(connected, "orders", "r", RETRY, HOUR)
    await move_now(connected, QUEUE, RETRY.destination, await messages_of(connected, "r"))
    (entry,) = server.command("XRANGE", RETRY.destination, "-", "+")
    assert entry[1] == [b"n", b"1", b"_so_origin_id", b"17-4", b"_so_attempt", b"3"]


async def test_destination_that_is_no_stream(connected: Server, server: RunningServer) -> None:
    await schedule(connected, "orders", "a", ORDER, HOUR)
    server.command("SET", "orders", "x")
    (moved,) = await move_now(connected, QUEUE, "orders", await messages_of(connected, "a"))
    assert "WRONGTYPE" in moved.error
    assert server.command("ZCARD", QUEUE) == server.command("HLEN", BODIES) == 1


async def test_a_move_without_memory_changes_nothing(
    start_server: StartServer, program: ServerProgram
) -> None:
    """The write that can fail comes first: nothing is half-moved."""
    server = start_server(program=program)
    connection = await Server.connect(server.options)
    for ident in ("a", "b"):
        await schedule(connection, "orders", ident, ORDER, HOUR)
    read = await messages_of(connection, "a", "b")
    server.command("CONFIG", "SET", "maxmemory", 1)
    with pytest.raises(ServerError, match="out of memory"):
        await move_now(connection, QUEUE, "orders", read)
    with pytest.raises(ServerError, match="out of memory"):
        await schedule(connection, "orders", "c", ORDER, HOUR)
    assert await cancel(connection, QUEUE, read[:1]) == [""]
    await connection.close()
    assert server.command("ZRANGE", QUEUE, 0, -1) == server.command("HKEYS", BODIES) == [b"b"]
    assert server.command("EXISTS", "orders") == 0


async def test_messages_cancelled_are_those_that_have_not_changed_since(
    connected: Server, server: RunningServer
) -> None:
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
