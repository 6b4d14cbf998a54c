"""The slots of a handler: what is handled alone, and handlers that do not end."""

import asyncio
from datetime import timedelta

from msgspec.structs import replace

from streamops.runtime import Entry, Streamops
from streamops.runtime.buffer import Buffer
from streamops.runtime.events import Abandoned, Event
from tests.support.runtime.consumer_streams import stream_of_ann
from tests.support.runtime.working import QUICK, is_idle, until, working
from tests.support.servers import RunningServer


def test_only_what_is_handled_alone_makes_room_for_the_next() -> None:
    buffer, stream = Buffer(), stream_of_ann()
    queue = buffer.add_queue(1, asyncio.Event())
    first, second, other = (Entry(stream, raw_id, [], 0.0) for raw_id in (b"1-0", b"2-0", b"3-0"))
    buffer.suspects.extend([first, second])
    queue.again.append(other)
    assert buffer.take() is first
    assert buffer.take() is other
    buffer.release(other)
    assert buffer.take() is None
    assert not buffer.has_next()
    buffer.release(first)
    assert buffer.has_next()
    assert buffer.take() is second


async def test_a_handler_that_will_not_end_keeps_its_entry_and_the_worker_ends(
    server: RunningServer,
) -> None:
    app, told, may_end, ended = Streamops(server.options), list[Event](), asyncio.Event(), list[str]()
    app.events.on(Abandoned, told.append)

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                continue
        ended.append(entry.id)

    server.client.xadd("s", {"a": "1"})
    async with working(app, replace(QUICK, grace=timedelta(seconds=0.1))) as worker:
        await until(lambda: worker.runners[0].executor.busy)
    assert worker.lingers
    ((raw_id, owner, idle, _),) = server.command("XPENDING", "s", "g", "-", "+", 10)
    assert owner == worker.id.encode()
    assert idle < 60_000
    assert told == [Abandoned("s", "g", raw_id.decode())]
    may_end.set()
    await until(lambda: not worker.lingers)
    assert ended == [raw_id.decode()]
    assert not is_idle(server, "s")


async def test_a_handler_that_ends_a_little_late_is_acknowledged(server: RunningServer) -> None:
    app = Streamops(server.options)

    @app.handler("s", group="g", start="0")
    async def handle(_: Entry) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.to_thread(server.command, "PING")

    server.client.xadd("s", {"a": "1"})
    async with working(app, replace(QUICK, grace=timedelta(seconds=0.1))) as worker:
        await until(lambda: worker.runners[0].executor.busy)
    assert not worker.lingers
    assert is_idle(server, "s")


async def test_a_slot_that_has_waited_goes_on_at_once(server: RunningServer) -> None:
    """Where many calls end at the same time, each is followed by the next one before others end."""
    app, told = Streamops(server.options), list[str]()
    both = asyncio.Event()

    @app.handler("s", group="g", start="0", concurrency=2)
    async def handle(entry: Entry) -> None:
        told.append(f"begins {entry.id}")
        if len(told) == 2:
            # Longer than a slot may go on without a turn of others.
            asyncio.get_running_loop().call_later(0.05, both.set)
        await both.wait()
        told.append(f"ends {entry.id}")

    for number in range(1, 5):
        server.client.xadd("s", {"a": "1"}, id=f"{number}-0")
    async with working(app, QUICK):
        await until(lambda: len(told) == 8)
    assert told == [
        *("begins 1-0", "begins 2-0"),
        *("ends 1-0", "begins 3-0", "ends 3-0", "begins 4-0", "ends 4-0", "ends 2-0"),
    ]
