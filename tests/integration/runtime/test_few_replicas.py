"""A primary that takes no writes because it has too few replicas: a worker waits, and goes on by itself."""

import asyncio

from streamops.runtime import Entry, Streamops
from streamops.runtime.events import Troubled
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer, StartServer

REFUSED = "it takes no writes while it has too few replicas"


async def test_a_worker_waits_until_writes_are_taken_again(
    server: RunningServer, start_server: StartServer
) -> None:
    primary = start_server(program=server.program)
    begun: list[str] = []
    troubles: list[Troubled] = []
    may_end = asyncio.Event()
    app = Streamops(primary.options)
    app.on(Troubled)(troubles.append)

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        begun.append((entry.get("n") or b"").decode())
        await may_end.wait()

    async with working(app):
        primary.command("XADD", "s", "*", "n", "1")
        await until(lambda: begun)
        primary.command("CONFIG", "SET", "min-replicas-to-write", 1)
        may_end.set()
        await until(lambda: any(REFUSED in one.error.message for one in troubles))
        assert not is_idle(primary, "s")
        primary.command("CONFIG", "SET", "min-replicas-to-write", 0)
        await until(lambda: is_idle(primary, "s"))
        primary.command("XADD", "s", "*", "n", "2")
        await until(lambda: len(begun) == 2 and is_idle(primary, "s"))
    assert begun == ["1", "2"]
