"""What a worker takes over, and what it keeps: entries of the dead and of strangers, lost replies, groups that are gone."""

import asyncio

from streamops.runtime import Entry
from streamops.runtime.events import Adopted, DeadLettered, Event, GroupRestored, Reclaimed
from tests.support.runtime.worker import add_fields, app_on, letters
from tests.support.runtime.working import beaten, is_idle, keys, until, working
from tests.support.servers import RunningServer
from tests.support.streams import pending_count


async def test_entries_of_a_dead_worker_are_taken_over_and_it_is_removed(server: RunningServer) -> None:
    app, seen, told = app_on(server), dict[str, int](), list[Event]()
    app.events.on(Reclaimed, told.append)
    ids = [add_fields(server, n=str(number)) for number in range(30)]
    server.command("XGROUP", "CREATE", "s", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "so-gone-1-abcd", "COUNT", 30, "STREAMS", "s", ">")

    @app.handler("s", group="g")
    async def handle(entry: Entry) -> None:
        seen[entry.id] = entry.attempt

    async with working(app) as worker:
        await until(lambda: is_idle(server, "s"))
        await until(
            lambda: [row[1] for row in server.command("XINFO", "CONSUMERS", "s", "g")] == [worker.id.encode()]
        )
    assert seen == dict.fromkeys(ids, 2)
    assert sum(event.entries for event in told if isinstance(event, Reclaimed)) == 30
    assert "{s}:attempts:g" not in keys(server)


async def test_entries_of_strangers_are_taken_over_after_the_lease(server: RunningServer) -> None:
    app, seen = app_on(server), list[str]()
    ids = [add_fields(server, n=str(number)) for number in range(5)]
    server.command("XGROUP", "CREATE", "s", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "somebody", "STREAMS", "s", ">")

    @app.handler("s", group="g", lease=0.5)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    async with working(app):
        await until(lambda: is_idle(server, "s"))
    assert sorted(seen) == sorted(ids)


async def test_a_slow_handler_keeps_its_entry(server: RunningServer) -> None:
    first, second, starts = app_on(server), app_on(server), list[str]()
    held = asyncio.Event()

    async def handle(entry: Entry) -> None:
        starts.append(entry.id)
        await held.wait()

    for app in (first, second):
        app.handler("s", group="g", start="0", lease=0.3, concurrency=2)(handle)
    add_fields(server, a="1")
    async with working(first) as one, working(second) as other:
        await until(lambda: starts)
        await beaten(server, one, other, times=4)
        held.set()
        await until(lambda: is_idle(server, "s"))
    assert len(starts) == 1


async def test_a_reply_that_was_lost_is_adopted(server: RunningServer) -> None:
    app, seen, told = app_on(server), list[str](), list[Event]()
    app.events.on(Adopted, told.append)

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    async with working(app) as worker:
        # As if the reply to a read had been lost: delivered to this worker, which never heard of it.
        server.command("XADD", "s", "1-1", "a", "1")
        await until(lambda: len(seen) == 1)
        with server.client.pipeline(transaction=True) as at_once:
            at_once.xadd("s", {"a": "2"}, id="2-1")
            at_once.xreadgroup("g", worker.id, {"s": ">"})
            at_once.execute()
        for client in server.client.client_list():
            if client["cmd"].startswith("xreadgroup"):
                server.command("CLIENT", "KILL", "ID", client["id"])
        await until(lambda: len(seen) == 2)
        await until(lambda: is_idle(server, "s"))
    assert [event.entries for event in told if isinstance(event, Adopted)] == [1]


async def test_a_destroyed_group_is_created_anew_where_this_worker_stood(server: RunningServer) -> None:
    app, seen, told = app_on(server), list[str](), list[Event]()
    app.events.on(GroupRestored, told.append)

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    first = add_fields(server, a="1")
    async with working(app):
        await until(lambda: seen == [first])
        await until(lambda: is_idle(server, "s"))
        server.command("XGROUP", "DESTROY", "s", "g")
        second = add_fields(server, a="2")
        await until(lambda: seen == [first, second])
        server.command("DEL", "s")
        third = add_fields(server, a="3")
        await until(lambda: seen == [first, second, third])
        server.flush()
        fourth = add_fields(server, a="4")
        await until(lambda: seen == [first, second, third, fourth])
    assert any(isinstance(event, GroupRestored) and event.began == first for event in told)


async def test_a_deleted_entry_is_told_of_and_not_looped(server: RunningServer) -> None:
    app, told = app_on(server), list[Event]()
    app.events.on(Event, told.append)
    gone = add_fields(server, a="1")
    server.command("XGROUP", "CREATE", "s", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "somebody", "STREAMS", "s", ">")
    server.command("XDEL", "s", gone)

    @app.handler("s", group="g", lease=0.2)
    async def handle(entry: Entry) -> None:
        raise AssertionError(entry.id)

    async with working(app):
        await until(lambda: pending_count(server, "s", "g") == 0)
        await until(lambda: any(type(event).__name__ == "Lost" for event in told))


async def test_an_entry_that_keeps_failing_to_finish_is_given_up(server: RunningServer) -> None:
    app, told, starts = app_on(server), list[Event](), list[int]()
    app.events.on(DeadLettered, told.append)
    add_fields(server, a="1")
    server.command("XGROUP", "CREATE", "s", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "somebody", "STREAMS", "s", ">")
    born = server.command("XPENDING", "s", "g", "-", "+", 1)[0][0].decode()
    # Two workers have died of it, each after marking the start.
    server.command("HSET", "{s}:attempts:g", born, 2)

    @app.handler("s", group="g", lease=0.2, max_attempts=3)
    async def handle(entry: Entry) -> None:
        starts.append(entry.attempt)

    async with working(app):
        await until(lambda: letters(server))
        await until(lambda: is_idle(server, "s"))
    assert starts == []
    assert letters(server)[0]["_so_reason"] == "max-deliveries"
    assert "{s}:attempts:g" not in keys(server)
