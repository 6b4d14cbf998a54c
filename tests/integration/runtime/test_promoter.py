"""The part of a worker that moves delayed messages: sleeping, waking, many workers, servers that go away."""

import asyncio
from datetime import timedelta
from math import inf

import pytest
from msgspec.structs import replace

from streamops.model.delayed import DelayedBody
from streamops.model.schedules import Backoff
from streamops.runtime import promoter
from streamops.runtime.events import DelayedDeadLettered, DelayedRefused, DelayedStrays, Promoted, Troubled
from streamops.runtime.promoter import FastestClock
from streamops.wire.delayed import encode_body
from streamops.wire.delayed_writes import MessageToDelay, schedule_many
from tests.support.eventually import eventually
from tests.support.runtime.promoter import (
    BODIES,
    HOUR,
    NOW,
    ODD,
    ORDER,
    QUEUE,
    RETRY,
    SOON,
    listeners,
    promoting,
)
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.fixtures import SetUser

SHIPPING = "{orders}:retry:shipping"


async def test_messages_are_moved_when_they_are_due(server: RunningServer) -> None:
    async with promoting(server.options) as one:
        for number in range(5):
            await one.delay(f"m{number}", ORDER, timedelta(milliseconds=10 * number))
        await one.delay("retry", RETRY, SOON)
        await one.delay("later", ORDER, HOUR)
        await eventually(lambda: one.moved == 6)
    assert server.command("XLEN", "orders") == 5
    ((_, rows),) = server.command("XREADGROUP", "GROUP", "g", "w", "STREAMS", RETRY.destination, ">")
    assert [fields for _, fields in rows] == [[b"f", b"v", b"_so_origin_id", b"1-1", b"_so_attempt", b"2"]]
    assert server.command("ZRANGE", QUEUE, 0, -1) == server.command("HKEYS", BODIES) == [b"later"]


async def test_message_is_never_moved_before_it_is_due(server: RunningServer) -> None:
    async with promoting(server.options) as one:
        rows = [MessageToDelay(f"m{at}", ORDER, timedelta(milliseconds=7 * at)) for at in range(40)]
        dues = await schedule_many(one.server, "orders", rows)
        await eventually(lambda: one.moved == 40)
    for due, (entry_id, _) in zip(dues, server.command("XRANGE", "orders", "-", "+"), strict=True):
        assert int(entry_id.split(b"-")[0]) >= round(due.timestamp() * 1000)  # type: ignore[union-attr] # it was added


async def test_a_notice_wakes_it(server: RunningServer) -> None:
    """Nothing else could: it would sleep for an hour."""
    async with promoting(server.options, longest_sleep=3600.0) as one:
        await eventually(lambda: listeners(server) == 1)
        await one.delay("late", ORDER, HOUR)
        await one.delay("a", ORDER, SOON)
        await eventually(lambda: one.moved == 1)
        await one.delay("b", ORDER, NOW)
        await eventually(lambda: one.moved == 2)


async def test_its_own_process_wakes_it(server: RunningServer) -> None:
    async with promoting(server.options, longest_sleep=3600.0) as one:
        await eventually(lambda: listeners(server) == 1)
        body = encode_body(ORDER)
        server.command("HSET", BODIES, "a", body)
        server.command("ZADD", QUEUE, 5, "a")
        one.promoter.wake("orders")
        await eventually(lambda: one.moved == 1)
        (due,) = await schedule_many(one.server, "orders", [MessageToDelay("b", ORDER, SOON)])
        one.promoter.wake("orders", due)  # type: ignore[arg-type] # it was added
        one.promoter.wake("unknown")
        await eventually(lambda: one.moved == 2)


async def test_without_notices_it_looks_by_itself(as_user: SetUser) -> None:
    async with promoting(as_user("~*", "+@all", "-subscribe", "-publish"), longest_sleep=0.1) as one:
        await eventually(lambda: len(one.promoter._queues) == 1)
        await asyncio.sleep(0.05)
        await one.delay("a", ORDER, NOW)
        await eventually(lambda: one.moved == 1)
        assert one.events == [Promoted("orders", 1)]


async def look(server: RunningServer, times: int = 5) -> None:
    """Wait until the promoter has looked into the queue so many times more."""
    looks = server.calls("zcard") + times
    await eventually(lambda: server.calls("zcard") >= looks)


async def test_streams_of_one_queue_share_it(server: RunningServer) -> None:
    async with promoting(server.options, "orders", "{orders}", longest_sleep=0.02) as one:
        await one.delay("o", ORDER, NOW)
        await eventually(lambda: one.moved == 1)
        assert list(one.promoter._queues) == [QUEUE]


async def test_several_workers_share_without_doubling(server: RunningServer) -> None:
    async with (
        promoting(server.options) as one,
        promoting(server.options) as two,
        promoting(server.options) as three,
    ):
        for batch in range(10):
            rows = [
                MessageToDelay(f"m{batch}-{at}", ORDER, timedelta(milliseconds=at % 50)) for at in range(100)
            ]
            await schedule_many(one.server, "orders", rows)
            await asyncio.sleep(0.005)
        await eventually(lambda: server.command("ZCARD", QUEUE) == 0)
        await eventually(lambda: one.moved + two.moved + three.moved == 1_000)
    assert server.command("XLEN", "orders") == 1_000
    assert server.command("EXISTS", QUEUE, BODIES) == 0


async def test_waiting_costs_next_to_nothing(server: RunningServer) -> None:
    """Neither a message that is far off, nor one without a body, nor one that cannot go anywhere keeps it busy."""
    async with promoting(server.options, "orders", "payments", longest_sleep=3600.0) as one:
        server.command("SET", SHIPPING, "no stream")
        server.command("ZADD", QUEUE, 5, "bodiless", "+inf", "never")
        await one.delay("far", ORDER, HOUR)
        await one.delay("refused", DelayedBody(SHIPPING, ORDER.fields), NOW)
        one.promoter.wake("orders")
        await eventually(lambda: any(isinstance(event, DelayedRefused) for event in one.events))
        waiting = one.promoter._queues[QUEUE]
        await eventually(lambda: waiting._until < inf)
        asked = waiting._asked
        # Meanwhile another queue waits for one message after the other.
        for number in range(5):
            await one.delay(f"m{number}", DelayedBody("payments", ORDER.fields), SOON, "payments")
            await eventually(lambda moved=number + 1: one.moved == moved)  # type: ignore[misc]
        assert waiting._asked == asked
    assert server.command("ZCARD", QUEUE) == 4


async def test_what_it_cannot_move_is_told(server: RunningServer) -> None:
    server.command("SET", SHIPPING, "no stream")
    server.command("ZADD", QUEUE, 5, "broken")
    server.command("HSET", BODIES, "broken", ODD, "stray", "?")
    async with promoting(server.options, longest_sleep=0.02) as one:
        await one.delay("a", DelayedBody(SHIPPING, ORDER.fields), NOW)
        await eventually(lambda: len(one.events) == 3)
        await look(server)
        buried, refused, strays = sorted(one.events, key=lambda event: type(event).__name__)
        assert isinstance(buried, DelayedDeadLettered)
        assert buried.id == "broken"
        assert isinstance(refused, DelayedRefused)
        assert (refused.key, refused.messages) == (SHIPPING, 1)
        assert "WRONGTYPE" in refused.error
        assert strays == DelayedStrays("orders", 1)
        server.command("HDEL", BODIES, "stray")
        await look(server)
        server.command("HSET", BODIES, "stray", "?")
        await eventually(lambda: one.events.count(strays) == 2)
    assert server.command("XLEN", "{orders}:dlq") == 1


async def test_messages_to_more_destinations_than_are_kept_in_mind_are_moved(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than are kept in mind: each is declared when its turn comes."""
    monkeypatch.setattr(promoter, "MOST_DESTINATIONS", 3)
    async with promoting(server.options) as one:
        rows = [
            MessageToDelay(f"m{at}", DelayedBody(f"{{orders}}:retry:{at % 10}", ORDER.fields), NOW)
            for at in range(50)
        ]
        await schedule_many(one.server, "orders", rows)
        await eventually(lambda: one.moved == 50)
    assert [server.command("XLEN", f"{{orders}}:retry:{at}") for at in range(10)] == [5] * 10


async def test_pump_goes_on_after_each_trouble_of_its_server(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory, silent, connections and scripts lost: told, and survived."""
    monkeypatch.setattr(promoter, "BACKOFF", Backoff(0.01, 0.05))
    server = start_server()
    async with promoting(replace(server.options, timeout=timedelta(seconds=0.1))) as one:

        def troubles() -> list[str]:
            return [str(event.error) for event in one.events if isinstance(event, Troubled)]

        await one.delay("a", ORDER, HOUR)
        server.command("ZADD", QUEUE, "XX", 1, "a")
        server.command("CONFIG", "SET", "maxmemory", 1)
        one.promoter.wake("orders")
        await eventually(lambda: any("memory" in text for text in troubles()))
        server.command("CONFIG", "SET", "maxmemory", 0)
        await eventually(lambda: one.moved == 1)

        server.pause()
        one.promoter.wake("orders")
        await eventually(lambda: any("no answer in time" in text for text in troubles()))
        server.resume()
        server.command("SCRIPT", "FLUSH")
        server.command("CLIENT", "KILL", "TYPE", "pubsub")
        server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        await eventually(lambda: listeners(server) == 1)
        await one.delay("b", ORDER, NOW)
        await eventually(lambda: one.moved == 2)


def test_the_fastest_answer_tells_the_servers_clock() -> None:
    clock = FastestClock()
    assert clock.local_time(5_000) < 0
    clock.read(1_000, 10.0, 10.8)
    assert clock.local_time(2_000) == pytest.approx(11.8)
    clock.read(1_100, 10.9, 10.901)
    assert clock.local_time(2_000) == pytest.approx(11.801)
    # An answer that lay about for a second says nothing new.
    clock.read(1_200, 11.0, 12.0)
    assert clock.local_time(2_000) == pytest.approx(11.801)
    # After a while it does: the clock may have been set.
    clock.read(50_000, 30.0, 30.5)
    assert clock.local_time(51_000) == pytest.approx(31.5)
