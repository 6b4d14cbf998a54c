"""Entries that the server takes for acknowledged as it delivers them: at most once, and counted where they are lost."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import PublishError, SettingsError
from streamops.runtime import Entry, Streamops
from streamops.runtime.events import NotHandled
from tests.support.runtime.working import QUICK, until, working
from tests.support.servers import RunningServer


def add(server: RunningServer, number: int) -> None:
    for one in range(number):
        server.command("XADD", "s", "*", "n", one)


def pending(server: RunningServer) -> int:
    number: int = server.command("XPENDING", "s", "g")[0]
    return number


async def test_an_entry_is_pending_nowhere_while_it_is_handled(server: RunningServer) -> None:
    app, begun, finish = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="all", noack=True)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        await finish.wait()

    add(server, 3)
    async with working(app) as worker:
        await until(lambda: len(begun) == 3)
        assert pending(server) == 0
        finish.set()
        await until(lambda: sum(worker.runners[0].counts.latencies.counts) == 3)


async def test_an_entry_that_fails_is_counted_as_lost_and_not_tried_again(server: RunningServer) -> None:
    app, lost, given_up = Streamops(server.options), list[NotHandled](), list[str]()
    app.on(NotHandled)(lost.append)

    @app.handler("s", group="g", start="all", noack=True, failed=lambda entry, _: given_up.append(entry.id))
    async def handle(entry: Entry) -> None:
        if entry.get("n") == b"1":
            raise ValueError("bad")

    add(server, 3)
    async with working(app) as worker:
        await until(lambda: sum(worker.runners[0].counts.durations.counts) == 3)
        await until(lambda: bool(given_up))
        counts = worker.runners[0].snapshot()
    assert (counts.noack_lost, counts.failures, pending(server)) == (1, 1, 0)
    assert [(one.entry_id, one.error) for one in lost] == [(given_up[0], "ValueError: bad")]
    assert server.command("EXISTS", "{s}:dlq", "{s}:delayed") == 0


async def test_what_was_read_is_handled_before_the_worker_ends(server: RunningServer) -> None:
    app, handled, first = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="all", noack=True, concurrency=1)
    async def handle(entry: Entry) -> None:
        await first.wait()
        handled.append(entry.id)

    add(server, 20)
    async with working(app, QUICK) as worker:
        await until(lambda: worker.runners[0].executor.busy == 1)
        worker.stop()
        first.set()
    read = server.command("XINFO", "GROUPS", "s")[0]
    delivered = dict(zip(read[::2], read[1::2], strict=True))[b"last-delivered-id"]
    assert handled[-1].encode() == delivered
    assert worker.runners[0].snapshot().noack_lost == 0


async def test_nothing_is_published_with_an_acknowledgement_that_there_is_not(server: RunningServer) -> None:
    app, refused = Streamops(server.options), list[str]()

    @app.handler("s", group="g", start="all", noack=True)
    async def handle(entry: Entry) -> None:
        try:
            entry.publish("other", {"n": 1})
        except PublishError as error:
            refused.append(error.message)

    add(server, 1)
    async with working(app):
        await until(lambda: bool(refused))
    assert "was read with noack" in refused[0]


@pytest.mark.parametrize("options", [{"retry": 5}, {"in_place": True}, {"key": "n"}])
def test_what_needs_an_acknowledgement_is_refused_with_noack(options: dict[str, object]) -> None:
    app = Streamops("redis://localhost")
    with pytest.raises(SettingsError, match="noack=True with"):

        @app.handler("s", group="g", noack=True, **options)  # type: ignore[arg-type]  # each is of its type
        async def handle(entry: Entry) -> None: ...


async def test_a_batch_that_waits_for_more_is_handled_as_the_worker_stops(server: RunningServer) -> None:
    app, handled = Streamops(server.options), list[str]()

    @app.handler("s", group="g", start="all", noack=True, batch=10, linger=60.0, concurrency=1)
    async def handle(entries: list[Entry]) -> None:
        handled.extend(entry.id for entry in entries)

    add(server, 3)
    async with working(app) as worker:
        await until(lambda: worker.in_flight == 3 and not worker.runners[0].executor.buffer)
    assert (len(handled), worker.runners[0].snapshot().noack_lost) == (3, 0)


async def test_entries_cut_off_by_the_end_of_the_grace_are_counted_as_lost(server: RunningServer) -> None:
    app, begun = Streamops(server.options), list[str]()

    @app.handler("s", group="g", start="all", noack=True, concurrency=1)
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)
        await asyncio.Event().wait()

    add(server, 3)
    async with working(app, replace(QUICK, grace=timedelta(seconds=0.3))) as worker:
        await until(lambda: worker.in_flight == 3 and begun)
    assert (len(begun), worker.runners[0].snapshot().noack_lost) == (1, 3)
