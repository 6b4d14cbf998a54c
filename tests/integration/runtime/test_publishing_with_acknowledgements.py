"""Messages that a handler publishes: added in the same step as its entry is acknowledged, or not at all."""

import asyncio

import pytest

from streamops.errors import PublishError
from streamops.model.streams import Mode
from streamops.runtime import Entry, Skip
from streamops.runtime.entry import check_target
from streamops.runtime.events import Completed, Event
from tests.support.runtime.worker import add_fields, app_on, letters
from tests.support.runtime.working import is_idle, keys, until, working
from tests.support.servers import RunningServer
from tests.support.streams import fields_of, pending_count


def added(server: RunningServer, stream: str = "out") -> list[dict[bytes, bytes]]:
    """The fields of what a stream holds."""
    return fields_of(server, stream)


def take_over(server: RunningServer, entry: Entry) -> None:
    """Let somebody else have an entry."""
    server.command("XCLAIM", "s", "g", "other", 0, entry.id)


@pytest.mark.parametrize("threads", [False, True])
async def test_messages_of_a_handled_entry_are_added_once_and_it_is_acknowledged(
    server: RunningServer, *, threads: bool
) -> None:
    app, told = app_on(server), list[Event]()
    app.events.on(Completed, told.append)

    def handle(n: str, entry: Entry) -> None:
        entry.publish("out", {"n": n, "part": 1})
        entry.publish("out", {"n": n, "part": 2}, fields={"more": "yes"})
        entry.publish("other", b"body", maxlen=1_000)

    app.handler("s", group="g", start="all", threads=threads)(handle)
    for number in range(300):
        add_fields(server, n=str(number))
    async with working(app):
        await until(lambda: is_idle(server, "s"))
    rows = added(server)
    assert sorted((int(row[b"n"]), row[b"part"]) for row in rows) == [
        (number, part) for number in range(300) for part in (b"1", b"2")
    ]
    assert rows[1][b"more"] == b"yes"
    assert added(server, "other") == [{b"data": b"body"}] * 300
    assert len(told) == 300


async def test_an_entry_with_and_one_without_messages_are_both_acknowledged(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="all", batch=10)
    async def handle(entries: list[Entry]) -> list[Exception | None]:
        for entry in entries[1:]:
            entry.publish("out", {"id": entry.id})
        return [None, *(ValueError("no") if at == 1 else None for at in range(1, len(entries)))]

    ids = [add_fields(server, n=str(number)) for number in range(3)]
    async with working(app):
        await until(lambda: added(server))
        assert added(server) == [{b"id": ids[2].encode()}]
        assert pending_count(server, "s", "g") == 0


@pytest.mark.parametrize("retry", ["in the queue", "in place"])
async def test_a_handler_that_raises_publishes_nothing(server: RunningServer, retry: str) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="all", retry=0.01, in_place=retry == "in place", max_attempts=4)
    async def handle(entry: Entry) -> None:
        entry.publish("out", {"attempt": entry.attempt})
        if entry.attempt < 3:
            raise ValueError("not yet")

    add_fields(server, n="1")
    async with working(app):
        await until(lambda: is_idle(server, "s") and added(server))
    assert added(server) == [{b"attempt": b"3"}]


async def test_a_handler_that_takes_too_long_publishes_nothing(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="all", retry=None, timeout=0.05)
    async def handle(entry: Entry) -> None:
        entry.publish("out", {"n": 1})
        await asyncio.Event().wait()

    add_fields(server, n="1")
    async with working(app):
        await until(lambda: letters(server))
    assert letters(server)[0]["_so_reason"] == "timeout"
    assert added(server) == []


async def test_a_skipped_entry_is_acknowledged_with_its_messages(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="all")
    async def handle(entry: Entry) -> None:
        entry.publish("out", {"n": 1})
        raise Skip

    add_fields(server, n="1")
    async with working(app):
        await until(lambda: added(server) and is_idle(server, "s"))
    assert added(server) == [{b"n": b"1"}]


async def test_an_entry_that_another_consumer_has_by_now_publishes_nothing(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="all")
    async def handle(n: str, entry: Entry) -> None:
        if n == "1":
            take_over(server, entry)
        entry.publish("out", {"n": n})

    ids = [add_fields(server, n=number) for number in ("1", "2")]
    async with working(app) as worker:
        await until(lambda: added(server) and not worker.in_flight)
        assert [row[0].decode() for row in server.command("XPENDING", "s", "g", "-", "+", 10)] == ids[:1]
    assert added(server) == [{b"n": b"2"}]


async def test_an_entry_of_a_worker_that_died_after_its_handler_is_published_once(
    server: RunningServer,
) -> None:
    """For the server it is dead: its entry is pending under a name that sends no heartbeat."""
    first, second, handled = app_on(server), app_on(server), asyncio.Event()

    async def handle(entry: Entry) -> None:
        entry.publish("out", {"attempt": entry.attempt})
        if not handled.is_set():
            handled.set()
            server.command("XCLAIM", "s", "g", "so-gone-1-abcd", 0, entry.id)

    for app in (first, second):
        app.handler("s", group="g", start="all")(handle)
    add_fields(server, n="1")
    async with working(first) as worker:
        await until(lambda: handled.is_set() and not worker.in_flight)
    assert added(server) == []
    async with working(second):
        await until(lambda: is_idle(server, "s"))
    assert added(server) == [{b"attempt": b"2"}]


async def test_a_stream_that_is_none_fails_the_entry_and_nothing_of_it_is_added(
    server: RunningServer,
) -> None:
    app = app_on(server)
    server.command("SET", "text", "1")

    @app.handler("s", group="g", start="all", max_attempts=2, retry=0.01)
    async def handle(n: str, entry: Entry) -> None:
        entry.publish("out", {"n": n})
        if n == "1":
            entry.publish("text", {"n": n})

    for n in ("1", "2"):
        add_fields(server, n=n)
    async with working(app):
        await until(lambda: letters(server) and is_idle(server, "s"))
    assert letters(server)[0]["_so_error"] == "PublishError: text is not a stream"
    assert added(server) == [{b"n": b"2"}]


async def test_messages_wait_while_the_server_is_out_of_memory(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="all")
    async def handle(entry: Entry) -> None:
        server.command("CONFIG", "SET", "maxmemory", "1")
        entry.publish("out", {"n": 1})

    add_fields(server, n="1")
    troubled = asyncio.Event()
    app.events.on(Event, lambda _: troubled.set())
    try:
        async with working(app):
            await troubled.wait()
            assert (added(server), pending_count(server, "s", "g")) == ([], 1)
            server.command("CONFIG", "SET", "maxmemory", "0")
            await until(lambda: is_idle(server, "s"))
    finally:
        server.command("CONFIG", "SET", "maxmemory", "0")
    assert added(server) == [{b"n": b"1"}]


async def test_nothing_can_be_published_after_the_handler_has_returned(server: RunningServer) -> None:
    app, seen = app_on(server), list[Entry]()

    @app.handler("s", group="g", start="all")
    async def handle(entry: Entry) -> None:
        seen.append(entry)

    add_fields(server, n="1")
    async with working(app):
        await until(lambda: is_idle(server, "s"))
    with pytest.raises(PublishError, match="is not being handled"):
        seen[0].publish("out", {"n": 1})


async def test_a_payload_goes_with_the_entry_that_publishes(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g", start="all")
    async def handle(entry: Entry) -> None:
        entry.publish("out", entry.payload or b"")

    async with working(app), app.publisher() as publisher:
        await publisher.publish("s", {"n": 1}, payload=b"large")
        await until(lambda: added(server) and is_idle(server, "s"))
    assert added(server) == [{b"data": b"large"}]
    assert not [key for key in keys(server) if ":payload:" in key]


def test_a_stream_in_another_slot_is_refused_on_a_cluster() -> None:
    check_target(Mode.STANDALONE, "orders", "mails")
    check_target(Mode.CLUSTER, "{shop}:orders", "{shop}:mails")
    with pytest.raises(PublishError, match="is in another hash slot than orders") as refused:
        check_target(Mode.CLUSTER, "orders", "mails")
    assert "app.publish" in (refused.value.hint or "")
