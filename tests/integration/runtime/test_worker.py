"""One worker from start to drain, on every server."""

import asyncio
import os
from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from streamops.errors import NotFound, SettingsError
from streamops.runtime import Delays, Entry, Reject, RetryLater, Skip
from streamops.runtime.events import BacklogSkipped
from tests.support.runtime.worker import add_fields, app_on, letters
from tests.support.runtime.working import (
    LONGEST_WAIT,
    QUICK,
    beaten,
    drained_beside,
    is_idle,
    keys,
    unread,
    until,
    working,
)
from tests.support.servers import RunningServer
from tests.support.streams import pending_count


class Order(msgspec.Struct):
    order_id: str
    total: int = 0


async def test_entries_are_decoded_handled_and_acknowledged(server: RunningServer) -> None:
    app, seen = app_on(server), list[Order]()

    @app.handler("s", group="g", start="0")
    async def handle(order: Order, entry: Entry) -> None:
        assert entry.attempt == 1
        assert entry.stream == "s"
        assert entry.age < timedelta(minutes=1)
        seen.append(order)

    add_fields(server, data=b'{"order_id": "a", "total": 1}')
    add_fields(server, order_id="b", total="2")
    async with working(app):
        add_fields(server, data=b'{"order_id": "c", "total": 3}')
        await until(lambda: len(seen) == 3)
        await until(lambda: is_idle(server, "s"))
    assert seen == [Order("a", 1), Order("b", 2), Order("c", 3)]
    assert keys(server) == {"s", "{s}:retry:g"}
    assert server.command("XINFO", "CONSUMERS", "s", "g") == []


async def test_a_group_begins_where_its_handler_says_and_tells_what_it_skips(server: RunningServer) -> None:
    app, seen, told = app_on(server), list[tuple[str, str]](), list[BacklogSkipped]()
    app.events.on(BacklogSkipped, told.append)

    @app.handler("s", group="later")
    async def later(entry: Entry) -> None:
        seen.append(("later", entry.id))

    @app.handler("s", group="before", start="all")
    async def before(entry: Entry) -> None:
        seen.append(("before", entry.id))

    old = add_fields(server, n="1")
    async with working(app):
        new = add_fields(server, n="2")
        await until(lambda: len(seen) == 3)
    assert sorted(seen) == [("before", old), ("before", new), ("later", new)]
    assert told == [BacklogSkipped("s", "later", old)]
    told.clear()
    async with working(app):
        assert told == []


async def test_many_entries_at_once_are_each_handled_once(server: RunningServer) -> None:
    app, seen = app_on(server), list[str]()

    @app.handler("s", group="g", start="0", concurrency=8, prefetch=50)
    async def handle(entry: Entry) -> None:
        await asyncio.sleep(0)
        seen.append(entry.id)

    ids = [add_fields(server, n=str(number)) for number in range(1000)]
    async with working(app):
        await until(lambda: is_idle(server, "s"))
    assert sorted(seen) == sorted(ids)


async def test_a_failure_is_tried_again_by_this_group_alone_until_it_succeeds(server: RunningServer) -> None:
    app, attempts = app_on(server), list[tuple[int, str]]()
    server.command("XGROUP", "CREATE", "s", "other", "0", "MKSTREAM")

    @app.handler("s", group="g", start="0", retry=Delays((0.05,)))
    async def handle(entry: Entry) -> None:
        attempts.append((entry.attempt, entry.origin_id))
        if entry.attempt < 3:
            raise ValueError("not yet")

    born = add_fields(server, order="7")
    async with working(app):
        await until(lambda: len(attempts) == 3)
        await until(lambda: is_idle(server, "s"))
    assert attempts == [(1, born), (2, born), (3, born)]
    assert server.command("XLEN", "s") == 1
    assert unread(server, "s", "other") == 1


async def test_the_last_failure_goes_to_the_dead_letters_at_once(server: RunningServer) -> None:
    app, attempts, told = app_on(server), list[int](), list[BaseException]()

    def failed(_: Entry, error: BaseException) -> None:
        told.append(error)

    @app.handler("s", group="g", start="0", retry=0, max_attempts=3, failed=failed)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)
        raise ValueError("no such customer")

    born = add_fields(server, order="7", b="2")
    async with working(app):
        await until(lambda: letters(server))
        await until(lambda: is_idle(server, "s"))
    assert attempts == [1, 2, 3]
    (letter,) = letters(server)
    assert list(letter)[:2] == ["order", "b"]
    assert letter["_so_origin"] == "s"
    assert letter["_so_origin_id"] == born
    assert letter["_so_group"] == "g"
    assert letter["_so_reason"] == "max-deliveries"
    assert letter["_so_error"] == "ValueError: no such customer"
    assert letter["_so_attempt"] == "3"
    assert [str(error) for error in told] == ["no such customer"]


async def test_a_retry_in_place_stays_pending_with_its_worker(server: RunningServer) -> None:
    app, attempts = app_on(server), list[int]()

    @app.handler("s", group="g", start="0", retry=0.05, in_place=True, max_attempts=3)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)
        assert pending_count(server, "s", "g") == 1
        raise ValueError("no")

    add_fields(server, order="7")
    async with working(app):
        await until(lambda: letters(server))
        await until(lambda: is_idle(server, "s"))
    assert attempts == [1, 2, 3]
    assert "{s}:attempts:g" not in keys(server)


async def test_handlers_steer_by_what_they_raise(server: RunningServer) -> None:
    app, attempts = app_on(server), list[tuple[str, int]]()

    @app.handler("s", group="g", start="0", retry=60)
    async def handle(order: Order, entry: Entry) -> None:
        attempts.append((order.order_id, entry.attempt))
        if order.order_id == "skip":
            raise Skip
        if order.order_id == "reject":
            raise Reject("no such product")
        if entry.attempt == 1:
            raise RetryLater(0.01)

    for word in ("skip", "reject", "later"):
        add_fields(server, order_id=word)
    add_fields(server, total="x")
    async with working(app):
        await until(lambda: len(attempts) == 4)
        await until(lambda: is_idle(server, "s"))
    assert sorted(attempts) == [("later", 1), ("later", 2), ("reject", 1), ("skip", 1)]
    assert {letter["_so_reason"] for letter in letters(server)} == {"rejected", "undecodable"}


async def test_a_handler_that_takes_too_long_is_cut_off(server: RunningServer) -> None:
    app, cancelled = app_on(server), list[bool]()

    @app.handler("s", group="g", start="0", timeout=0.1, retry=None)
    async def handle(_: Entry) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    add_fields(server, a="1")
    add_fields(server, a="2")
    async with working(app):
        await until(lambda: len(letters(server)) == 2)
        await until(lambda: is_idle(server, "s"))
    assert cancelled == [True, True]
    assert {letter["_so_reason"] for letter in letters(server)} == {"timeout"}


async def test_plain_functions_and_batches(server: RunningServer) -> None:
    app, inline, threaded, batches = app_on(server), list[str](), list[str](), list[int]()

    @app.handler("a", group="g", start="0")
    def handle(fields: dict[str, str]) -> None:
        inline.append(fields["n"])

    @app.handler("b", group="g", start="0", threads=True, concurrency=4)
    def handle_slowly(fields: dict[str, str]) -> None:
        threaded.append(fields["n"])

    @app.handler("c", group="g", start="0", batch=10, linger=0.2, concurrency=1)
    async def handle_many(orders: list[Order], entries: list[Entry]) -> list[Exception | None]:
        assert len(orders) == len(entries)
        batches.append(len(orders))
        return [Reject("odd") if order.total % 2 else None for order in orders]

    for number in range(20):
        add_fields(server, "a", n=str(number))
        add_fields(server, "b", n=str(number))
        add_fields(server, "c", order_id="x", total=str(number))
    async with working(app):
        for stream in "abc":
            await until(lambda stream=stream: is_idle(server, stream))  # type: ignore[misc]
    assert inline == [str(number) for number in range(20)]
    assert sorted(threaded, key=int) == inline
    assert max(batches) == 10
    assert sum(batches) == 20
    assert len(letters(server, "c")) == 10


async def test_draining_hands_back_what_was_not_begun(server: RunningServer) -> None:
    app, begun, done, held = app_on(server), list[str](), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0", concurrency=2)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        await held.wait()
        done.append(entry.id)

    for number in range(20):
        add_fields(server, n=str(number))
    async with working(app) as worker:
        await until(lambda: len(begun) == 2)
        await drained_beside(worker, held)
    assert done == begun
    # Nothing is lost, and what was read ahead is anybody's at once.
    assert pending_count(server, "s", "g") + unread(server, "s") == 18
    rows = server.command("XPENDING", "s", "g", "-", "+", 100)
    assert all(idle > 1_000_000 for _, _, idle, _ in rows)
    assert server.command("KEYS", "streamops:worker:*") == []


async def test_one_business_key_is_handled_once(server: RunningServer) -> None:
    app, seen = app_on(server), list[str]()

    @app.handler("s", group="g", start="0", key="order_id", concurrency=4)
    async def handle(order: Order) -> None:
        seen.append(order.order_id)

    for word in ("a", "b", "a"):
        add_fields(server, order_id=word)
        add_fields(server, data=msgspec.json.encode(Order(f"{word}!")))
    async with working(app) as worker:
        await until(lambda: is_idle(server, "s"))
        assert worker.runners[0].counts.duplicates == 2
    assert sorted(seen) == ["a", "a!", "b", "b!"]
    assert {f"{{s}}:done:g:{word}" for word in ("a", "a!", "b", "b!")} < keys(server)


async def test_a_dead_letter_frees_its_key(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="0", key="order_id", retry=None)
    async def handle(order: Order) -> None:
        raise ValueError(order.order_id)

    add_fields(server, order_id="a")
    async with working(app):
        await until(lambda: letters(server))
    assert "{s}:done:g:a" not in keys(server)


async def test_weights_share_the_slots_and_starve_nobody(server: RunningServer) -> None:
    app, order = app_on(server), list[str]()

    @app.handler({"high": 5, "normal": 3, "low": 2}, group="g", start="0", concurrency=1)
    async def handle(entry: Entry) -> None:
        order.append(entry.stream)
        await asyncio.sleep(0.001)

    for stream in ("high", "normal", "low"):
        for number in range(200):
            add_fields(server, stream, n=str(number))
    async with working(app):
        await until(lambda: len(order) >= 300)
    share = [order[50:250].count(stream) / 200 for stream in ("high", "normal", "low")]
    assert share == pytest.approx([0.5, 0.3, 0.2], abs=0.06)


async def test_bad_declarations_are_refused_in_one_line(server: RunningServer) -> None:
    app = app_on(server)

    async def untyped(order) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - what is tested
        ...

    async def fine(entry: Entry) -> None: ...

    with pytest.raises(SettingsError, match="has no type"):
        app.handler("s", group="g")(untyped)
    with pytest.raises(SettingsError, match="concurrency=0"):
        app.handler("s", group="g", concurrency=0)(fine)
    app.handler("s", group="g")(fine)
    with pytest.raises(SettingsError, match="is read by"):
        app.handler("s", group="g")(fine)
    server.command("SET", "s", "text")
    with pytest.raises(NotFound, match="s is not a stream"):
        async with working(app):
            pass


async def test_a_heartbeat_tells_of_the_worker_and_pauses_it(server: RunningServer) -> None:
    app, seen = app_on(server), list[str]()

    @app.handler("s", group="g", start="0", concurrency=3)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    options = replace(QUICK, pool="p", app="tests")
    async with working(app, options) as worker:
        key = f"streamops:worker:{worker.id}"
        await until(lambda: server.command("HGET", key, "state") == b"running")
        heart = server.client.hgetall(key)
        assert heart[b"v"] == b"1"
        assert heart[b"pid"] == str(os.getpid()).encode()
        assert heart[b"slots"] == b"3"
        assert heart[b"pool"] == b"p"
        assert 0 < server.command("PTTL", key) <= 300
        server.command("HSET", "streamops:pool:p", "mode", "paused")
        # The read that was under way has ended by then.
        await until(lambda: server.command("HGET", key, "state") == b"paused")
        add_fields(server, a="1")
        await beaten(server, worker, times=2)
        assert not seen
        server.command("HDEL", "streamops:pool:p", "mode")
        await until(lambda: len(seen) == 1)
    assert QUICK.pool == "default"


async def test_worker_is_paused_once_nothing_runs_that_came_after_the_order(server: RunningServer) -> None:
    """Its read was under way when the order came, and brings an entry that is handled."""
    app, begun, may_end = app_on(server), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        await may_end.wait()

    async with working(app, replace(QUICK, block=timedelta(seconds=LONGEST_WAIT))) as worker:
        key = f"streamops:worker:{worker.id}"
        await until(lambda: any("b" in client["flags"] for client in server.client.client_list()))
        server.command("HSET", "streamops:pool:default", "mode", "paused")
        await until(lambda: worker.runners[0].consumers[0].paused)
        await beaten(server, worker, times=2)
        assert server.command("HGET", key, "state") == b"running"
        add_fields(server, a="1")
        await until(lambda: begun)
        await beaten(server, worker, times=2)
        assert server.command("HGET", key, "state") == b"running"
        may_end.set()
        await until(lambda: server.command("HGET", key, "state") == b"paused")
        assert is_idle(server, "s")
