"""Plain functions in threads, which nothing can cut off."""

import asyncio
import os
import signal
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from streamops.runtime import Entry, Streamops
from streamops.runtime.events import Abandoned, Event
from tests.runtime.working import QUICK, is_idle, until, working
from tests.servers import RunningServer

PROGRAM = """
import sys, time
from streamops.runtime import Entry, Streamops

app = Streamops(sys.argv[1])

@app.handler("s", group="g", start="0", threads=True)
def handle(entry: Entry) -> None:
    print("begun", flush=True)
    time.sleep(60)

if __name__ == "__main__":
    from datetime import timedelta
    from streamops.runtime import WorkerOptions
    app.run(WorkerOptions(beat=timedelta(seconds=0.2), grace=timedelta(seconds=0.1)))
"""


async def test_a_call_that_takes_too_long_is_waited_for(any_server: RunningServer) -> None:
    app, starts, running = Streamops(any_server.options), list[int](), list[str]()

    @app.handler("s", group="g", start="0", threads=True, timeout=0.1, retry=0, max_deliveries=2, lease=0.2)
    def handle(entry: Entry) -> None:
        starts.append(entry.attempt)
        assert not running
        running.append(entry.id)
        time.sleep(0.5)
        running.clear()

    any_server.client.xadd("s", {"a": "1"})
    async with working(app):
        await until(lambda: any_server.client.xlen("{s}:dlq"))
        await until(lambda: is_idle(any_server, "s"))
    assert starts == [1, 2]
    ((_, raw),) = any_server.command("XRANGE", "{s}:dlq", "-", "+")
    assert raw[raw.index(b"_so_reason") + 1] == b"timeout"


async def test_what_still_runs_at_the_end_is_not_given_to_others(any_server: RunningServer) -> None:
    app, told, may_end = Streamops(any_server.options), list[Event](), threading.Event()
    app.events.on(Abandoned, told.append)

    @app.handler("s", group="g", start="0", threads=True, concurrency=2)
    def handle(entry: Entry) -> None:
        if entry.get("a") == b"1":
            may_end.wait(20)

    any_server.client.xadd("s", {"a": "1"})
    async with working(app, replace(QUICK, grace=timedelta(seconds=0.1))) as worker:
        await until(lambda: worker.stations[0].crew.busy)
    try:
        assert worker.lingers
        ((raw_id, owner, idle, _),) = any_server.command("XPENDING", "s", "g", "-", "+", 10)
        assert owner == worker.id.encode()
        assert idle < 60_000
        assert told == [Abandoned("s", "g", raw_id.decode())]
    finally:
        may_end.set()
    await until(lambda: not worker.lingers)


async def test_a_function_that_raises_stop_iteration_fails(any_server: RunningServer) -> None:
    app, starts = Streamops(any_server.options), list[int]()

    @app.handler("s", group="g", start="0", threads=True, retry=0)
    def handle(entry: Entry) -> None:
        starts.append(entry.attempt)
        if entry.attempt == 1:
            next(iter(()))

    any_server.client.xadd("s", {"a": "1"})
    async with working(app):
        await until(lambda: starts == [1, 2])
        await until(lambda: is_idle(any_server, "s"))


async def test_a_process_ends_though_a_thread_goes_on(any_server: RunningServer, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    any_server.client.xadd("s", {"a": "1"})
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = await asyncio.create_subprocess_exec(
        sys.executable, program, any_server.url, env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert await process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    finally:
        if process.returncode is None:
            process.kill()
    ((_, _, idle, _),) = any_server.command("XPENDING", "s", "g", "-", "+", 10)
    assert idle < 60_000
