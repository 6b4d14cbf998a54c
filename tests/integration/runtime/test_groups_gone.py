"""A group that somebody destroys while workers have entries of it in hand: not one of them is lost."""

import asyncio

import pytest

from streamops.runtime import Delays, Entry, Streamops
from streamops.runtime.context import ServerClock
from streamops.runtime.events import Event, GroupRestored, Lost
from tests.support.runtime.working import beaten, is_idle, unread, until, working
from tests.support.servers import RunningServer
from tests.support.streams import add_entry, pending_count


def destroy(server: RunningServer) -> None:
    assert server.command("XGROUP", "DESTROY", "s", "g") == 1


async def test_what_waits_in_the_buffer_is_handled_and_stays_pending_until_then(
    server: RunningServer,
) -> None:
    app, begun, held = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0", concurrency=2, lease=0.3)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        if len(begun) > 20:
            await held.wait()

    ids = [add_entry(server, "s", "n", number) for number in range(40)]
    async with working(app) as worker:
        await until(lambda: len(begun) == 22)
        # Those that were handled are acknowledged, and the worker has heard so.
        await until(lambda: worker.in_flight + unread(server, "s") == len(ids) - 20)
        before, told = worker.in_flight, list[Event]()
        app.events.on(Event, told.append)
        destroy(server)
        await until(lambda: any(isinstance(event, GroupRestored) for event in told))
        await until(lambda: pending_count(server, "s", "g") == worker.in_flight >= before)
        # They are renewed, for longer than anybody would wait before taking them over.
        await beaten(server, worker, times=3)
        held.set()
        await until(lambda: is_idle(server, "s"))
    assert len(begun) == len(ids)
    assert {*begun} == {*ids}
    assert {type(event) for event in told} == {GroupRestored}


@pytest.mark.parametrize("in_place", [False, True])
async def test_what_runs_and_fails_is_tried_again(server: RunningServer, *, in_place: bool) -> None:
    app, attempts, restored = Streamops(server.options), list[int](), asyncio.Event()
    app.events.on(GroupRestored, lambda _: restored.set())

    @app.handler("s", group="g", start="0", retry=Delays((0.05,)), in_place=in_place, max_attempts=3)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if entry.attempt == 1:
            # Before the one that reads has heard of it, or after.
            restored.clear()
            destroy(server)
            if entry.get("n") == b"1":
                await restored.wait()
        if entry.attempt < 3 or entry.get("n") == b"1":
            raise ValueError("not yet")

    async with working(app):
        add_entry(server, "s", "n", 0)
        await until(lambda: attempts == [1, 2, 3] and is_idle(server, "s"))
        attempts.clear()
        add_entry(server, "s", "n", 1)
        await until(lambda: attempts == [1, 2, 3] and is_idle(server, "s"))
    assert server.command("XLEN", "{s}:dlq") == 1


async def test_what_runs_is_not_lost_though_its_worker_was_silent_for_long(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may have taken it for dead, and what it had; but nobody has it pending now that the group was gone."""
    monkeypatch.setattr(ServerClock, "is_steady", lambda _: False)
    app, attempts = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0", retry=Delays((0.05,)))
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if entry.attempt == 1:
            destroy(server)
            raise ValueError("not yet")

    async with working(app):
        add_entry(server, "s", "n", 1)
        await until(lambda: attempts == [1, 2] and is_idle(server, "s"))


async def test_a_worker_that_was_not_reading_finds_out_later(server: RunningServer) -> None:
    """Another one has created the group anew, and no read of its own was refused."""
    app, begun, held = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0", concurrency=1, prefetch=3, lease=0.4, retry=0)
    async def handle(entry: Entry) -> None:
        begun.append(entry.origin_id)
        if entry.attempt == 1:
            await held.wait()
            raise ValueError("not yet")

    ids = [add_entry(server, "s", "n", number) for number in range(8)]
    async with working(app) as worker:
        await until(lambda: begun)
        # It has read ahead as much as it wants.
        await until(lambda: not any("b" in client["flags"] for client in server.client.client_list()))
        assert worker.in_flight > 1
        last = server.command("XPENDING", "s", "g", "-", "+", 9)[-1][0]
        destroy(server)
        server.command("XGROUP", "CREATE", "s", "g", last)
        await until(lambda: pending_count(server, "s", "g") == worker.in_flight)
        destroy(server)
        server.command("XGROUP", "CREATE", "s", "g", last)
        held.set()
        await until(lambda: is_idle(server, "s"))
    assert all(begun.count(one) == 2 for one in ids)
    assert server.command("XLEN", "{s}:dlq") == 0


async def test_what_was_acknowledged_by_hand_is_not_pending_again(server: RunningServer) -> None:
    app, begun, held = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0", lease=0.2, retry=0)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        await held.wait()
        raise ValueError("no")

    one = add_entry(server, "s", "n", 1)
    async with working(app) as worker:
        await until(lambda: begun)
        server.command("XACK", "s", "g", one)
        await beaten(server, worker, times=2)
        held.set()
        await until(lambda: is_idle(server, "s"))
    assert begun == [one]


async def test_an_entry_deleted_while_it_runs_leaves_a_dead_letter_where_it_fails(
    server: RunningServer,
) -> None:
    app, told, held = Streamops(server.options), list[Event](), asyncio.Event()
    app.events.on(Event, told.append)

    @app.handler("s", group="g", start="0", lease=1.2, retry=0)
    async def handle(_: Entry) -> None:
        await held.wait()
        raise ValueError("no")

    one = add_entry(server, "s", "n", 1)
    async with working(app) as worker:
        await until(lambda: pending_count(server, "s", "g") == 1)
        server.command("XDEL", "s", one)
        await until(lambda: any(isinstance(event, Lost) for event in told))
        await beaten(server, worker, times=2)
        held.set()
        await until(lambda: server.command("XLEN", "{s}:dlq") == 1)
        await until(lambda: is_idle(server, "s"))
    assert [event.entry_id for event in told if isinstance(event, Lost)] == [one]
    assert [type(event).__name__ for event in told] == ["Lost", "DeadLettered"]
    letter = server.command("XRANGE", "{s}:dlq", "-", "+")[0][1]
    assert b"payload-missing" in letter
