"""Attempts count starts of the handler: neither deliveries, nor what a worker had in hand when it ended."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.runtime import Entry, Streamops
from streamops.runtime.events import Troubled
from tests.chaos.proxy import Proxy
from tests.support.runtime.working import QUICK, is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.streams import add_entry, pending_count

DEAD = "so-dead-1-abcd"
LONG = timedelta(hours=1)
Attempts = dict[str, list[int]]


def die_with(server: RunningServer, *ids: str, deliveries: int = 1) -> None:
    """Have a worker read entries that nobody hears of again."""
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    server.command("XREADGROUP", "GROUP", "g", DEAD, "STREAMS", "s", ">")
    server.command("XCLAIM", "s", "g", DEAD, 0, *ids, "IDLE", 60_000, "RETRYCOUNT", deliveries, "JUSTID")


async def play(
    server: RunningServer, prepare: Callable[[], object] = lambda: None, most: int = 1
) -> Attempts:
    """Have a worker handle all there is; the attempts of each entry."""
    app, attempts = Streamops(server.options), Attempts()

    @app.handler("s", group="g", start="0", max_attempts=most)
    async def handle(entry: Entry) -> None:
        attempts.setdefault(entry.id, []).append(entry.attempt)

    prepare()
    async with working(app):
        await until(lambda: is_idle(server, "s"))
    return attempts


async def test_drain_of_a_lingering_batch_burns_no_attempt(server: RunningServer) -> None:
    app, begun = Streamops(server.options), list[str]()

    @app.handler("s", group="g", start="0", batch=10, linger=LONG, max_attempts=2)
    async def handle(entries: list[Entry]) -> None:
        begun.extend(entry.id for entry in entries)

    ids = [add_entry(server, "s", "n", "1") for _ in range(3)]
    async with working(app) as worker:
        await until(lambda: worker.in_flight == 3)
    assert begun == []
    assert await play(server, most=2) == {one: [1] for one in ids}


async def test_drain_during_screening_burns_no_attempt(server: RunningServer) -> None:
    app, troubles, begun = Streamops(server.options), list[Troubled](), list[str]()
    app.on(Troubled)(troubles.append)

    @app.handler("s", group="g", start="0", key="order", max_attempts=2)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)

    async with working(app):
        server.command("ACL", "SETUSER", "default", "-set")
        one = add_entry(server, "s", "order", "7")
        await until(lambda: troubles)
    server.command("ACL", "SETUSER", "default", "+set")
    assert begun == []
    assert await play(server, most=2) == {one: [1]}


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("consumer", ["", "ann"])
async def test_drain_while_a_reply_is_under_way_burns_no_attempt(
    server: RunningServer, tmp_path: Path, most: int, consumer: str
) -> None:
    begun = list[str]()
    async with Proxy(server.socket_path, tmp_path / "link") as proxy:
        proxy.watch = lambda request: b"BLOCK" in request
        app = Streamops(replace(server.options, socket_path=str(proxy.path)))

        @app.handler("s", group="g", start="0", max_attempts=most)
        async def handle(entry: Entry) -> None:
            begun.append(entry.id)

        # Before the worker asks: a read that waits already would be answered with the first of them alone.
        ids = [add_entry(server, "s", "n", "1") for _ in range(3)]
        async with working(app, replace(QUICK, consumer=consumer)):
            await until(lambda: pending_count(server, "s", "g") == 3)
    assert begun == []
    assert [row[3] for row in server.command("XPENDING", "s", "g", "-", "+", 10)] == [0, 0, 0]
    assert await play(server, most=most) == {one: [1] for one in ids}


async def test_prefetched_entries_of_a_killed_worker_are_handled_where_one_delivery_is_allowed(
    server: RunningServer,
) -> None:
    ids = [add_entry(server, "s", "n", "1") for _ in range(30)]
    die_with(server, *ids)
    assert await play(server) == {one: [1] for one in ids}
    assert server.command("EXISTS", "{s}:dlq", "{s}:attempts:g") == 0


async def test_last_try_that_was_prefetched_by_a_killed_worker_is_made(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "{s}:retry:g", "g", "0", "MKSTREAM")
    last = server.command("XADD", "{s}:retry:g", "*", "n", "1", "_so_attempt", "3").decode()
    server.command("XREADGROUP", "GROUP", "g", DEAD, "STREAMS", "{s}:retry:g", ">")
    assert await play(server, most=3) == {last: [3]}
    assert server.command("EXISTS", "{s}:dlq") == 0


@pytest.mark.parametrize("lost", ["killed", "cut off"])
async def test_only_start_is_never_made_twice(server: RunningServer, lost: str) -> None:
    app, begun = Streamops(server.options), asyncio.Event()

    @app.handler("s", group="g", start="0", max_attempts=1)
    async def handle(_: Entry) -> None:
        begun.set()
        await asyncio.Event().wait()

    one = add_entry(server, "s", "n", "1")
    task = asyncio.create_task((worker := app.worker()).run())
    await begun.wait()
    if lost == "killed":
        # What it says and does from now on, it says and does to nobody.
        server.command("XCLAIM", "s", "g", DEAD, 0, one, "IDLE", 60_000, "JUSTID")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert worker.in_flight == 1
    assert await play(server) == {}
    ((_, raw),) = server.command("XRANGE", "{s}:dlq", "-", "+")
    letter = dict(zip(raw[::2], raw[1::2], strict=True))
    assert (letter[b"_so_reason"], letter[b"_so_attempt"]) == (b"max-deliveries", b"1")
