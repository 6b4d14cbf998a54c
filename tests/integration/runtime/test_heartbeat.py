"""The heartbeat's thread: what one stream suffers from is no other's, and what is told is told in the main loop."""

import asyncio
import threading
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Refused
from streamops.runtime import Entry, Streamops, WorkerOptions
from streamops.runtime.events import Event, Overran, Troubled
from streamops.runtime.groups import Groups
from streamops.runtime.heartbeat import Heartbeat
from tests.support.runtime.consumer_streams import worker_context
from tests.support.runtime.working import QUICK, beaten, until, working
from tests.support.servers import RunningServer
from tests.support.streams import pending_count


async def test_a_stream_in_trouble_costs_no_other_its_leases(server: RunningServer) -> None:
    first, second, starts, held = (
        Streamops(server.options),
        Streamops(server.options),
        list[str](),
        asyncio.Event(),
    )
    told = list[Event]()
    first.events.on(Troubled, told.append)

    async def handle(entry: Entry) -> None:
        starts.append(entry.stream)
        if len(starts) <= 2:
            await held.wait()

    first.handler(["a", "b"], group="g", start="0", lease=0.3)(handle)
    second.handler("b", group="g", start="0", lease=0.3)(handle)
    # Its entry of the broken stream cannot be acknowledged: the end does not wait for that.
    quick = replace(QUICK, beat=timedelta(seconds=0.1), grace=timedelta(seconds=0.1))
    async with working(first, quick) as one:
        for stream in "ab":
            server.command("XADD", stream, "*", "n", 1)
        await until(lambda: sorted(starts) == ["a", "b"])
        server.command("DEL", "a")
        server.command("SET", "a", "text")
        async with working(second, quick) as two:
            await beaten(server, one, two, times=6)
            assert starts.count("b") == 1
            held.set()
            await until(lambda: pending_count(server, "b", "g") == 0)
    assert told
    assert starts.count("b") == 1


async def test_what_others_took_over_is_told_in_the_main_loop(server: RunningServer) -> None:
    app, told, held = Streamops(server.options), list[tuple[Event, int]](), asyncio.Event()
    app.events.on(Overran, lambda event: told.append((event, threading.get_ident())))

    @app.handler("s", group="g", start="0", lease=0.3)
    async def handle(_: Entry) -> None:
        await held.wait()

    async with working(app) as worker:
        one = server.command("XADD", "s", "*", "n", 1)
        await until(lambda: pending_count(server, "s", "g") == 1)
        server.command("XCLAIM", "s", "g", "somebody", 0, one)
        await until(lambda: told)
        await beaten(server, worker, times=2)
        held.set()
    assert told == [(Overran("s", "g", 1), threading.get_ident())]


async def test_a_thread_that_ends_before_it_began_keeps_nobody_waiting(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(main: object) -> None:
        main.close()  # type: ignore[attr-defined] # a coroutine
        raise RuntimeError("no more threads")

    context = worker_context(server.options)
    beat = Heartbeat(context, timedelta(seconds=1), lambda _: pytest.fail("nobody asks"), [], Groups(context))
    with monkeypatch.context() as patch:
        patch.setattr("streamops.runtime.heartbeat.asyncio.run", fail)
        async with asyncio.timeout(5):
            await asyncio.to_thread(beat._started.is_set)
            beat.start()
            beat._thread.join()
    assert isinstance(beat.failure, RuntimeError)
    beat.stop()


async def test_a_name_of_ones_own_is_one_workers_alone(server: RunningServer) -> None:
    begun, options = list[str](), WorkerOptions(beat=timedelta(seconds=0.2), consumer="orders-1")
    app = Streamops(server.options)

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        begun.append(entry.id)

    beating = asyncio.Event()

    async def beat_elsewhere() -> None:
        number = 0
        while not beating.is_set():
            number += 1
            told = ("host", "elsewhere", "pid", 1, "beat_ms", number)
            server.command("HSET", "streamops:worker:orders-1", *told)
            server.command("PEXPIRE", "streamops:worker:orders-1", 600)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(beat_elsewhere())
    await asyncio.sleep(0)
    with pytest.raises(Refused, match="orders-1 is the name of a worker on elsewhere"):
        async with working(app, options):
            pytest.fail("two workers of one name")
    assert server.command("EXISTS", "streamops:worker:orders-1") == 1
    beating.set()
    await task
    # Its last beat is still there, as that of one that was killed: it ends by itself.
    async with working(app, options):
        server.command("XADD", "s", "*", "n", 1)
        await until(lambda: begun)
    assert QUICK.consumer == ""
