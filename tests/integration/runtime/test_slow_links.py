"""Workers a slow link away from their server: what they are given comes late, and is not lost on its way for ever."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from streamops.runtime import Entry, Streamops, WorkerOptions
from streamops.wire.options import ConnectionOptions
from tests.chaos.proxy import Proxy
from tests.support.runtime.working import QUICK, is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.wire.script_calls import arguments_of

NARROW = 400_000
ENTRY_ID = re.compile(rb"\d{13}-\d+")


@asynccontextmanager
async def behind(
    server: RunningServer, directory: Path, seconds: float
) -> AsyncIterator[tuple[Proxy, ConnectionOptions]]:
    """A link to the server, and how to reach it for those who take so many seconds of silence."""
    async with Proxy(server.socket_path, directory / "link") as proxy:
        yield (
            proxy,
            replace(server.options, socket_path=str(proxy.path), timeout=timedelta(seconds=seconds)),
        )


async def test_a_read_that_takes_longer_than_its_limit_is_no_trouble(
    server: RunningServer, tmp_path: Path
) -> None:
    """It takes longer than the server may be silent for; each entry is delivered once all the same."""
    attempts: list[int] = []
    async with behind(server, tmp_path, 0.4) as (proxy, options):
        app = Streamops(options)

        @app.handler("s", group="g", start="0")
        async def handle(entry: Entry) -> None:
            attempts.append(entry.deliveries)

        async with working(app):
            proxy.narrow(NARROW)
            with server.client.pipeline(transaction=True) as at_once:
                for _ in range(8):
                    at_once.xadd("s", {"n": "x" * 30_000})
                at_once.execute()
            await until(lambda: len(attempts) == 8)
            proxy.narrow(None)
            await until(lambda: is_idle(server, "s"))
    assert attempts == [1] * 8


async def test_less_is_adopted_at_once_after_a_reply_that_did_not_come_and_more_after_one_that_did(
    server: RunningServer, tmp_path: Path
) -> None:
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    for number in range(8):
        server.command("XADD", "s", "*", "n", number)
    server.command("XREADGROUP", "GROUP", "g", "ann", "STREAMS", "s", ">")
    asked = list[int]()

    def lose_the_first_two(request: bytes) -> bool:
        # Those that name entries adopt them; others only look for idle ones.
        named = ENTRY_ID.findall(arguments_of("consume_claim", request))
        if not named or len(asked) == 4:
            return False
        asked.append(len(named))
        return len(asked) < 3

    async with behind(server, tmp_path, 0.2) as (proxy, options):
        proxy.watch = lose_the_first_two
        app, handled = Streamops(options), set[str]()

        @app.handler("s", group="g", start="0")
        async def handle(entry: Entry) -> None:
            handled.add(entry.id)

        async with working(app, WorkerOptions(beat=QUICK.beat, consumer="ann")):
            await until(lambda: len(handled) == 8)
            await until(lambda: is_idle(server, "s"))
    first, second, third, fourth = asked
    assert first > 1
    assert second <= max(1, first // 2)
    assert third <= max(1, second // 2)
    assert fourth > third
