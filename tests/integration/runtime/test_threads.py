"""Plain functions in threads, which nothing can cut off."""

import threading
from datetime import timedelta

from msgspec.structs import replace

from streamops.runtime import Entry, Streamops
from streamops.runtime.events import Abandoned, Event
from tests.support.runtime.working import LONGEST_WAIT, QUICK, beaten, is_idle, until, working
from tests.support.servers import RunningServer


async def test_a_call_that_takes_too_long_is_waited_for(server: RunningServer) -> None:
    app, starts, running = Streamops(server.options), list[int](), list[str]()
    may_end = threading.Semaphore(0)

    @app.handler("s", group="g", start="0", threads=True, timeout=0.1, retry=0, max_attempts=2, lease=0.2)
    def handle(entry: Entry) -> None:
        starts.append(entry.attempt)
        assert not running
        running.append(entry.id)
        may_end.acquire(timeout=LONGEST_WAIT)
        running.clear()

    server.client.xadd("s", {"a": "1"})
    async with working(app) as worker:
        executor = worker.runners[0].executor
        for attempt in (1, 2):
            await until(lambda attempt=attempt: len(starts) == attempt)  # type: ignore[misc]
            await until(lambda: any(slot.overdue for slot in executor.slots))
            await beaten(server, worker, times=5)
            may_end.release()
        await until(lambda: server.client.xlen("{s}:dlq"))
        await until(lambda: is_idle(server, "s"))
    assert starts == [1, 2]
    ((_, raw),) = server.command("XRANGE", "{s}:dlq", "-", "+")
    assert raw[raw.index(b"_so_reason") + 1] == b"timeout"


async def test_what_still_runs_at_the_end_is_not_given_to_others(server: RunningServer) -> None:
    app, told, may_end = Streamops(server.options), list[Event](), threading.Event()
    app.events.on(Abandoned, told.append)

    @app.handler("s", group="g", start="0", threads=True, concurrency=2)
    def handle(entry: Entry) -> None:
        if entry.get("a") == b"1":
            may_end.wait(20)

    server.client.xadd("s", {"a": "1"})
    async with working(app, replace(QUICK, grace=timedelta(seconds=0.1))) as worker:
        await until(lambda: worker.runners[0].executor.busy)
    try:
        assert worker.lingers
        ((raw_id, owner, idle, _),) = server.command("XPENDING", "s", "g", "-", "+", 10)
        assert owner == worker.id.encode()
        assert idle < 60_000
        assert told == [Abandoned("s", "g", raw_id.decode())]
    finally:
        may_end.set()
    await until(lambda: not worker.lingers)


async def test_a_function_that_raises_stop_iteration_fails(server: RunningServer) -> None:
    app, starts = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0", threads=True, retry=0)
    def handle(entry: Entry) -> None:
        starts.append(entry.attempt)
        if entry.attempt == 1:
            next(iter(()))

    server.client.xadd("s", {"a": "1"})
    async with working(app):
        await until(lambda: starts == [1, 2])
        await until(lambda: is_idle(server, "s"))
