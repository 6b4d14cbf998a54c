"""B: a delay queue: messages wait by their due time, and become entries of a stream once it has come."""

import asyncio
import os
from datetime import timedelta

from streamops.runtime import Entry, Streamops
from streamops.runtime.events import Promoted
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions
from tests.support.eventually import eventually
from tests.support.requirements.processes import Commands, until
from tests.support.servers import RunningServer, StartServer

QUEUE, BODIES = "{jobs}:delayed", "{jobs}:delayed:jobs"

DIES_ONCE = """
import os
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="g", start="0")
def handle(entry: Entry) -> None:
    with open("ledger", "a") as ledger:
        ledger.write(f"{entry.attempt}\\n")
    if entry.attempt == 1:
        os.kill(os.getpid(), 9)
"""


async def test_b1_a_message_is_enqueued_in_one_step_whatever_its_bytes(
    redis: ConnectionOptions, server: RunningServer, commands: Commands
) -> None:
    """By its due time, with its body beside it; from Python and from the command line."""
    app, seen = Streamops(), list[bytes | None]()

    @app.handler("jobs", group="g")
    async def handle(entry: Entry) -> None:
        seen.append(entry.get("data"))

    every_byte = bytes(range(256))
    async with staged(app, redis) as stage:
        await stage.publish("jobs", every_byte, delay=3_600, id="m-1")
        words = ("publish", "jobs", "data=x", "--delay", "1h", "--id", "m-2")
        assert await asyncio.to_thread(commands.code, *words) == 0
        assert set(server.command("ZRANGE", QUEUE, 0, -1)) == {b"m-1", b"m-2"}
        assert set(server.command("HKEYS", BODIES)) == {b"m-1", b"m-2"}
        await stage.hasten()
        await stage.idle()
    assert set(seen) == {every_byte, b"x"}


async def test_b2_what_is_due_moves_onto_the_stream_in_one_step_earliest_first(
    redis: ConnectionOptions, server: RunningServer
) -> None:
    """In batches; nobody has it in hand on the way, so that nobody can lose it."""
    app, order, moved = Streamops(), list[int](), list[Promoted]()
    app.on(Promoted)(moved.append)

    @app.handler("jobs", group="g", concurrency=1)
    async def handle(fields: dict[str, str]) -> None:
        order.append(int(fields["n"]))

    async with staged(app, redis) as stage, app.publisher() as publisher:
        for number in reversed(range(30)):
            await publisher.publish("jobs", {"n": number}, delay=timedelta(hours=1 + number))
        await stage.hasten()
        await stage.idle()
    assert order == list(range(30))
    assert sum(event.messages for event in moved) == 30
    assert server.command("EXISTS", QUEUE, BODIES) == 0


def test_b3_a_message_whose_worker_is_killed_is_handled_again(
    server: RunningServer, commands: Commands
) -> None:
    """It is an entry of the stream by then, pending for its group."""
    commands.write("shop.py", DIES_ONCE)
    assert commands.code("publish", "jobs", "n=1", "--delay", "100ms") == 0
    with commands.running("run", "shop:app", "--beat", "100ms") as running:
        until(lambda: commands.lines("ledger") == ["1", "2"])
        until(lambda: server.command("XPENDING", "jobs", "g")[0] == 0)
        assert running.ended() == 0


async def test_b4_a_great_many_may_wait(redis: ConnectionOptions, server: RunningServer) -> None:
    """How fast a million of them are enqueued and moved, ``bench_delayed`` measures."""
    app, seen = Streamops(), set[int]()

    @app.handler("jobs", group="g", batch=100)
    async def handle(jobs: list[dict[str, str]]) -> None:
        seen.update(int(job["n"]) for job in jobs)

    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish_many("jobs", ({"n": number} for number in range(5_000)), delay=0.5)
        await publisher.publish_many("jobs", ({"n": number} for number in range(5_000, 10_000)), delay=3_600)
        assert server.command("ZCARD", QUEUE) >= 5_000
        await stage.idle(delayed=False)
        await eventually(lambda: server.command("ZCARD", QUEUE) == 5_000)
        await stage.idle(delayed=False)
        assert seen == set(range(5_000))
        await stage.hasten()
        await stage.idle()
    assert seen == set(range(10_000))


async def test_b5_scripts_are_known_again_after_a_flush_and_after_a_restart(
    start_server: StartServer, tmp_path: os.PathLike[str]
) -> None:
    server = start_server("--appendonly", "yes", "--appendfsync", "always", "--dir", str(tmp_path))
    app, seen = Streamops(), list[str]()

    @app.handler("jobs", group="g", retry=0.01)
    async def handle(fields: dict[str, str], entry: Entry) -> None:
        if entry.attempt == 1:
            raise ConnectionError("not yet")
        seen.append(fields["n"])

    async with staged(app, server.options) as stage:
        await stage.publish("jobs", {"n": "before"}, delay=0.01)
        await stage.idle()
        server.command("SCRIPT", "FLUSH")
        await stage.publish("jobs", {"n": "after"}, delay=0.01)
        await stage.idle()
        await stage.publish("jobs", {"n": "later"}, delay=0.5)
        server.kill()
        server.restart()
        await stage.idle()
    assert seen == ["before", "after", "later"]
