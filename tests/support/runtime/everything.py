"""An application that uses everything a worker can do, and what is left when it has."""

import asyncio
from datetime import timedelta

from streamops.runtime import Delays, Entry, Reject, Streamops
from streamops.wire.options import ConnectionOptions
from tests.support.runtime.working import QUICK, beaten, is_idle, until, working
from tests.support.servers import RunningServer

STREAM, GROUP, LETTERS, RETRIES = "orders", "g", "{orders}:dlq", "{orders}:retry:g"
DEAD = "so-elsewhere-1-dead"
POOL = "streamops:pool:default"
WORDS = {"left", "good", "again", "long", "later", "kept", "small"}
LOST = 4
WIDE = 4_000
"""More fields than a script can move."""


def add_leftovers(server: RunningServer) -> None:
    """What was there before: another worker's leftovers, one of them deleted, and one entry without its payload."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    add = ("XADD", STREAM, "*", "n")
    server.command(*add, "left")
    deleted = server.command(*add, "deleted")
    server.command("XREADGROUP", "GROUP", GROUP, DEAD, "STREAMS", STREAM, ">")
    server.command("XDEL", STREAM, deleted)
    server.command(*add, "bare", "_so_payload", "{orders}:payload:gone")


def application(options: ConnectionOptions) -> tuple[Streamops, list[str], asyncio.Event]:
    """The application, what it handled, and what its longest call waits for."""
    app, handled, held = Streamops(options), list[str](), asyncio.Event()

    @app.handler(STREAM, group=GROUP, start="0", retry=Delays((0.02,)), lease=0.4, key="n", max_attempts=2)
    async def handle(entry: Entry) -> None:
        word = (entry.get("n") or b"").decode()
        if word in ("again", "kept") and entry.attempt == 1:
            raise ValueError("not yet")
        if word.startswith("never") or word == "wide":
            raise Reject("no")
        if word == "long":
            await held.wait()
        handled.append(word)

    return app, handled, held


async def play(server: RunningServer, options: ConnectionOptions) -> list[str]:
    """Have a worker do everything, as the user of these options; what it handled."""
    app, handled, held = application(options)
    async with working(app, QUICK) as worker, app.publisher() as publisher:
        for word in ("good", "good", "again", "never", "long"):
            await publisher.publish(STREAM, {"n": word})
        await publisher.publish(STREAM, {"n": "later"}, delay=0.05)
        for word in ("kept", "never kept", "small"):
            await publisher.publish(STREAM, {"n": word}, payload=b"x" * 100, payload_ttl=timedelta(hours=1))
        server.command("XADD", STREAM, "*", "n", "wide", *("f", "v") * WIDE)
        # Its entry is renewed meanwhile.
        await beaten(server, worker, times=3)
        held.set()
        await until(lambda: set(handled) == WORDS and server.command("XLEN", LETTERS) == LOST)
        await until(lambda: is_idle(server, STREAM))
        server.command("XGROUP", "DESTROY", STREAM, GROUP)
        await publisher.publish(STREAM, {"n": "after"})
        await until(lambda: "after" in handled)
        server.command("HSET", POOL, "mode", "paused")
        await until(
            lambda: any(
                b"paused" in server.command("HGETALL", key)
                for key in server.command("KEYS", "streamops:worker:*")
            )
        )
        server.command("HSET", POOL, "mode", "running")
        await until(lambda: is_idle(server, STREAM))
        # Something to hand back at the drain: nobody begins it.
        await until(lambda: not server.command("XPENDING", STREAM, GROUP)[0])
    return handled
