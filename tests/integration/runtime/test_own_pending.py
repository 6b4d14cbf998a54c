"""Entries that were delivered and never started: they come again, and their delivery is no attempt."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

from streamops.runtime import Entry, Streamops, WorkerOptions
from streamops.runtime.events import Adopted, Event
from tests.support.runtime.working import QUICK, is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.streams import add_entry


def lose_reply(server: RunningServer, consumer: str, last: int) -> None:
    """Deliver entries to a consumer that never hears of them."""
    with server.client.pipeline(transaction=True) as at_once:
        for number in range(3):
            at_once.xadd("s", {"n": number}, id=f"{last + 1 + number}-1")
        at_once.xreadgroup("g", consumer, {"s": ">"})
        at_once.execute()
    for client in server.client.client_list():
        if "b" in client["flags"]:
            server.command("CLIENT", "KILL", "ID", client["id"])


async def test_a_lost_reply_was_no_attempt(server: RunningServer) -> None:
    app, attempts, told = Streamops(server.options), list[int](), list[Event]()
    app.events.on(Adopted, told.append)

    @app.handler("s", group="g", start="0", max_attempts=1)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)

    async with working(app) as worker:
        server.command("XADD", "s", "1-1", "n", 0)
        await until(lambda: attempts == [1])
        lose_reply(server, worker.id, 1)
        await until(lambda: len(attempts) == 4)
        await until(lambda: is_idle(server, "s"))
    assert attempts == [1, 1, 1, 1]
    assert told == [Adopted("s", "g", 3)]
    assert server.command("KEYS", "{s}:dlq") == []
    assert server.command("KEYS", "{s}:attempts:*") == []


async def test_under_a_name_that_others_may_have_had_it_was_one(server: RunningServer) -> None:
    app, attempts = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)

    async with working(app, WorkerOptions(beat=QUICK.beat, consumer="ann")):
        server.command("XADD", "s", "1-1", "n", 0)
        await until(lambda: attempts == [1])
        lose_reply(server, "ann", 1)
        await until(lambda: len(attempts) == 4)
        await until(lambda: is_idle(server, "s"))
    assert attempts == [1, 2, 2, 2]


async def test_what_a_drain_handed_back_unstarted_was_no_attempt(server: RunningServer) -> None:
    numbers: Iterator[int] = iter(range(1_000))
    attempts = dict[str, list[int]]()
    slow = asyncio.Event()

    def application() -> Streamops:
        app = Streamops(server.options)

        @app.handler("s", group="g", start="0", concurrency=2, max_attempts=1)
        async def handle(entry: Entry) -> None:
            attempts.setdefault(entry.id, []).append(entry.attempt)
            if next(numbers) >= 20:
                await slow.wait()

        return app

    ids = [add_entry(server, "s", "n", number) for number in range(60)]
    async with working(application()) as worker:
        await until(lambda: len(attempts) == 22)
        await until(lambda: len(worker.runners[0].executor.buffer) > 0)
        worker.stop()
        await until(lambda: any(row[3] == 0 for row in server.command("XPENDING", "s", "g", "-", "+", 100)))
        slow.set()
    async with working(application(), WorkerOptions(beat=timedelta(seconds=0.1))):
        await until(lambda: is_idle(server, "s"))
    assert attempts == {one: [1] for one in ids}
    assert server.command("KEYS", "{s}:dlq") == []


async def test_what_a_worker_started_without_a_word_counts(server: RunningServer) -> None:
    """It was delivered once and its worker is gone: nobody knows whether it brought it down."""
    app, attempts = Streamops(server.options), list[int]()
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    add_entry(server, "s", "n", 1)
    server.command("XREADGROUP", "GROUP", "g", "so-gone-1-abcd", "STREAMS", "s", ">")

    @app.handler("s", group="g", lease=0.3)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)

    async with working(app):
        await until(lambda: is_idle(server, "s"))
    assert attempts == [2]
