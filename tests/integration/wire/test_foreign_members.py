"""Members of a queue that are no delayed messages: the promoter passes them, and neither moves nor rescores them."""

from datetime import UTC, datetime

from streamops.model.delayed import DelayedBody
from streamops.wire.consuming.promoting import NOTHING_PASSED, Passed, Promotion, promote_due
from streamops.wire.delayed import encode_body
from streamops.wire.delayed_writes import MessageToDelay, delayed_cancel, schedule_many
from streamops.wire.server import Server
from tests.support.servers import RunningServer

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
ORDER = DelayedBody("orders", ((b"n", b"1"),))


def add_foreign(server: RunningServer, members: int, score: float = 5) -> list[bytes]:
    """Members without a body, and every second one with a body of another kind."""
    for number in range(members):
        server.command("ZADD", QUEUE, score, f"foreign-{number:04}")
        if number % 2:
            server.command("HSET", BODIES, f"foreign-{number:04}", '{"job": 1}')
    return scored(server)


def scored(server: RunningServer) -> list[bytes]:
    members: list[bytes] = server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES")
    return members


async def pump_on(server: Server, passed: Passed = NOTHING_PASSED, limit: int = 500) -> Promotion:
    return await promote_due(server, "orders", limit=limit, passed=passed)


# every server: the script goes by ranks and scores
async def test_foreign_members_before_a_message_are_passed_and_stay(server: RunningServer) -> None:
    connected = await Server.connect(server.options)
    before = add_foreign(server, 7)
    await schedule_many(connected, "orders", [MessageToDelay("ours", ORDER, LONG_AGO)])
    calls = [await pump_on(connected, limit=3)]
    for _ in range(2):
        calls.append(await pump_on(connected, calls[-1].passed, limit=3))
    await connected.close()
    assert [(one.moved, one.foreign, one.passed.count) for one in calls] == [(0, 3, 3), (0, 3, 6), (1, 1, 7)]
    assert scored(server) == before
    assert server.command("XLEN", "orders") == 1
    assert server.command("EXISTS", "{orders}:dlq") == 0


async def test_a_message_that_comes_before_passed_members_is_moved(
    connected: Server, server: RunningServer
) -> None:
    add_foreign(server, 4, score=2_000_000_000_000 // 2)
    passed = (await pump_on(connected)).passed
    assert passed == Passed(4, "foreign-0003")
    server.command("ZADD", QUEUE, 1, "ours")
    server.command("HSET", BODIES, "ours", encode_body(ORDER))
    assert (await pump_on(connected, passed)).moved == 1


async def test_a_message_whose_destination_is_unknown_is_not_passed(
    connected: Server, server: RunningServer
) -> None:
    elsewhere = DelayedBody("{orders}:retry:g", ORDER.fields)
    server.command("ZADD", QUEUE, 1, "ours")
    server.command("HSET", BODIES, "ours", encode_body(elsewhere))
    add_foreign(server, 2)
    first = await pump_on(connected)
    assert (first.unknown, first.passed) == (("{orders}:retry:g",), NOTHING_PASSED)
    second = await promote_due(connected, "orders", first.unknown, passed=first.passed)
    assert (second.moved, second.passed.count, second.next_due_ms) == (1, 2, None)


async def test_a_publisher_wakes_pumps_though_a_foreign_member_is_overdue(
    connected: Server, server: RunningServer
) -> None:
    add_foreign(server, 1)
    with server.client.pubsub() as heard:  # type: ignore[no-untyped-call] # redis-py's
        heard.subscribe(QUEUE)
        assert heard.get_message(timeout=5)
        await schedule_many(connected, "orders", [MessageToDelay("ours", ORDER, LONG_AGO)])
        told = heard.get_message(timeout=5)
    assert told is not None
    assert told["type"] == "message"


async def test_cancel_by_id_leaves_a_foreign_member(connected: Server, server: RunningServer) -> None:
    before = add_foreign(server, 2)
    for member in ("foreign-0000", "foreign-0001"):
        assert await delayed_cancel(connected, "orders", member) is False
    assert scored(server) == before
    assert server.command("HLEN", BODIES) == 1
