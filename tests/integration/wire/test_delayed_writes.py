"""Delaying many messages at once, and looking up or dropping single ones by their IDs."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis

from streamops.errors import NotFound
from streamops.model.delayed import DelayedBody
from streamops.wire import delayed_writes
from streamops.wire.delayed import encode_body
from streamops.wire.delayed_writes import MessageToDelay, delayed_cancel, delayed_get, schedule_many
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.server import Server
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.fixtures import SetUser

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
ORDER = DelayedBody("orders", ((b"tag", b"a"), (b"tag", b"b\xff")))
AT = datetime(2031, 5, 1, 12, 0, 0, 5000, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def notices(server: RunningServer) -> Iterator[Any]:
    """A subscriber to the queue's channel; ``get_message`` has what was published."""
    subscriber = server.client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call] # redis-py has no types here
    subscriber.subscribe(QUEUE)
    subscriber.get_message(timeout=5)
    yield subscriber
    subscriber.close()


def halves(server: RunningServer) -> tuple[list[bytes], list[bytes]]:
    return sorted(server.command("ZRANGE", QUEUE, 0, -1)), sorted(server.command("HKEYS", BODIES))


async def test_more_than_one_call_takes(connected: Server, server: RunningServer) -> None:
    """Answers stand in the order of the messages, whatever became of their neighbours."""
    number = delayed_writes.MOST * (delayed_writes.AT_ONCE + 1) + 7
    await schedule_many(connected, "orders", [MessageToDelay("m300", ORDER, HOUR)])
    messages = [MessageToDelay(f"m{at}", ORDER, AT + timedelta(milliseconds=at)) for at in range(number)]
    answers = await schedule_many(connected, "orders", messages)
    assert answers == [None if one.id == "m300" else one.due for one in messages]
    assert server.command("ZCARD", QUEUE) == server.command("HLEN", BODIES) == number
    assert set(server.command("HVALS", BODIES)) == {encode_body(ORDER)}
    assert await schedule_many(connected, "orders", messages) == [None] * number
    assert await schedule_many(connected, "orders", []) == []


async def test_ids_that_are_taken(connected: Server, server: RunningServer) -> None:
    server.command("ZADD", QUEUE, 5, "bodiless")
    server.command("HSET", BODIES, "stray", "x")
    other = DelayedBody("orders", ((b"other", b""),))
    ids = ["bodiless", "a", "a", "stray", "b\udcff"]
    answers = await schedule_many(
        connected,
        "orders",
        [MessageToDelay(one, ORDER if at < 2 else other, AT) for at, one in enumerate(ids)],
    )
    assert answers == [None, AT, None, None, AT]
    assert server.command("HGET", BODIES, "a") == encode_body(ORDER)
    assert server.command("ZSCORE", QUEUE, "bodiless") == b"5"


async def test_delays_are_by_the_servers_clock(connected: Server, server: RunningServer) -> None:
    delays = [HOUR, timedelta(), timedelta(seconds=-5), timedelta(microseconds=1500)]
    before = server.command("TIME")
    answers = await schedule_many(
        connected, "orders", [MessageToDelay(str(at), ORDER, delay) for at, delay in enumerate(delays)]
    )
    started = datetime.fromtimestamp(int(before[0]), tz=UTC) + timedelta(milliseconds=int(before[1]) // 1000)
    now = answers[1]
    assert isinstance(now, datetime)
    assert started <= now
    assert answers == [now + HOUR, now, now, now + timedelta(milliseconds=1)]


async def test_large_bodies_are_spread_over_calls(connected: Server, server: RunningServer) -> None:
    large = DelayedBody("orders", ((b"f", b"x" * (delayed_writes.MOST_BYTES // 2)),))
    server.command("CONFIG", "RESETSTAT")
    await schedule_many(connected, "orders", [MessageToDelay(str(at), large, HOUR) for at in range(6)])
    stats = server.client.info("commandstats")
    assert stats["cmdstat_zmscore"]["calls"] == 3
    assert server.command("HLEN", BODIES) == 6


async def test_only_what_is_due_before_all_others_is_announced(connected: Server, notices: Any) -> None:  # noqa: ANN401 - redis-py has no type for it
    async def announced(*dues: datetime) -> list[bytes]:
        ids = (f"{due.timestamp()}-{at}" for at, due in enumerate(dues))
        await schedule_many(
            connected, "orders", [MessageToDelay(one, ORDER, due) for one, due in zip(ids, dues, strict=True)]
        )
        return [message["data"] for message in iter(lambda: notices.get_message(timeout=0.02), None)]

    at = round(AT.timestamp() * 1000)
    assert await announced(AT) == [b"%d" % at]
    assert await announced(AT) == []
    assert await announced(AT + HOUR) == []
    assert await announced(AT + HOUR, AT - HOUR, AT) == [b"%d" % (at - 3_600_000)]


async def test_whoever_may_not_publish_delays_all_the_same(server: RunningServer, as_user: SetUser) -> None:
    user = await Server.connect(as_user("~*", "+@all", "-publish"))
    assert await schedule_many(user, "orders", [MessageToDelay("a", ORDER, AT)]) == [AT]
    await user.close()
    assert halves(server) == ([b"a"], [b"a"])


@pytest.mark.parametrize("command", ["zadd", "hset"])
async def test_no_halves_for_those_without_permission(
    server: RunningServer, as_user: SetUser, command: str
) -> None:
    user = await Server.connect(as_user("~*", "+@all", f"-{command}"))
    (problem,) = await schedule_many(user, "orders", [MessageToDelay("a", ORDER, AT)])
    await user.close()
    assert isinstance(problem, Fault)
    assert problem.kind is FaultKind.DENIED
    assert server.command("DBSIZE") == 0


async def test_scheduling_without_memory_changes_nothing(
    start_server: StartServer, program: ServerProgram
) -> None:
    server = start_server(program=program)
    connection = await Server.connect(server.options)
    server.command("CONFIG", "SET", "maxmemory", 1)
    (first, second) = await schedule_many(
        connection, "orders", [MessageToDelay(one, ORDER, AT) for one in ("a", "b")]
    )
    await connection.close()
    assert isinstance(first, Fault)
    assert first.kind is FaultKind.MEMORY
    assert second == first
    assert server.command("DBSIZE") == 0


@pytest.mark.parametrize("key", [QUEUE, BODIES])
async def test_keys_of_another_type(connected: Server, server: RunningServer, key: str) -> None:
    server.command("SET", key, "x")
    (problem,) = await schedule_many(connected, "orders", [MessageToDelay("a", ORDER, AT)])
    assert isinstance(problem, Fault)
    assert server.command("DBSIZE") == 1
    with pytest.raises(NotFound):
        await delayed_get(connected, "orders", "a")
    with pytest.raises(NotFound):
        await delayed_cancel(connected, "orders", "a")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        server.command("XLEN", key)


async def test_a_message_is_got_and_cancelled_by_its_id(connected: Server, server: RunningServer) -> None:
    await schedule_many(
        connected, "orders", [MessageToDelay("a", ORDER, AT), MessageToDelay("b\udcff", ORDER, HOUR)]
    )
    got = await delayed_get(connected, "orders", "a")
    assert got is not None
    assert (got.id, got.due_at, got.body, got.problem) == ("a", AT, ORDER, "")
    assert await delayed_get(connected, "orders", "none") is None
    assert await delayed_cancel(connected, "orders", "a") is True
    assert await delayed_cancel(connected, "orders", "a") is False
    assert await delayed_get(connected, "orders", "a") is None
    assert await delayed_cancel(connected, "orders", "b\udcff") is True
    assert server.command("DBSIZE") == 0


async def test_halves_can_be_looked_at_and_bodies_cancelled(connected: Server, server: RunningServer) -> None:
    server.command("ZADD", QUEUE, 5, "bodiless")
    server.command("HSET", BODIES, "stray", encode_body(ORDER))
    problems = {}
    for ident in ("bodiless", "stray"):
        got = await delayed_get(connected, "orders", ident)
        assert got is not None
        problems[ident] = got.problem
        assert await delayed_cancel(connected, "orders", ident) is (ident == "stray")
    assert problems["bodiless"] == "it is no delayed message: it has no body"
    assert "does not name it" in problems["stray"]
    assert server.command("KEYS", "*") == [QUEUE.encode()]


async def test_a_message_in_another_queue_is_got_and_cancelled_there(
    connected: Server, server: RunningServer
) -> None:
    await schedule_many(connected, "orders", [MessageToDelay("a", ORDER, AT)], "waiting")
    assert await delayed_get(connected, "orders", "a") is None
    assert await delayed_get(connected, "orders", "a", "waiting") is not None
    assert await delayed_cancel(connected, "orders", "a", "waiting") is True
    assert server.command("DBSIZE") == 0
