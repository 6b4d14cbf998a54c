"""Listening to channels: through lost connections, without permission, until cancelled."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.wire.consuming.promoting import listen
from tests.chaos.proxy import Proxy
from tests.support.eventually import eventually
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.notices import CHANNELS, HELLO, holds, listening


async def test_silence_is_looked_into(start_server: StartServer, tmp_path: Path) -> None:
    """A server that answers nothing any more, its connections open, is left for another attempt."""
    server = start_server()
    asked = list[bytes]()

    def watch(request: bytes) -> bool:
        asked.append(request)
        return False

    async with Proxy(server.socket_path, tmp_path / "proxy") as proxy:
        proxy.watch = watch
        options = replace(server.options, socket_path=str(proxy.path), timeout=timedelta(seconds=0.2))
        async with listening(options, quiet=0.02) as heard:
            await eventually(holds(heard, *HELLO))
            # Signs of life are asked for and given; they are no notices.
            await eventually(lambda: sum(b"PING" in request for request in asked) > 3)
            assert heard == [*HELLO]
            server.pause()
            asked.clear()
            await eventually(lambda: any(b"PING" not in request for request in asked))
            server.resume()
            await eventually(lambda: heard[-2:] == [*HELLO] and len(heard) > 2)


def subscribers(server: RunningServer) -> int:
    count: int = server.command("PUBSUB", "NUMSUB", CHANNELS[0])[1]
    return count


async def test_what_is_published_is_heard(server: RunningServer) -> None:
    async with listening(server.options) as heard:
        await eventually(holds(heard, *HELLO))
        server.command("PUBLISH", CHANNELS[0], "5")
        server.command("PUBLISH", b"caf\xff", b"\xff")
        server.command("PUBLISH", "another", "6")
        await eventually(holds(heard, *HELLO, (CHANNELS[0], b"5"), (CHANNELS[1], b"\xff")))
    await eventually(lambda: subscribers(server) == 0)


async def test_a_lost_connection_is_made_again(server: RunningServer) -> None:
    async with listening(server.options) as heard:
        await eventually(holds(heard, *HELLO))
        server.command("CLIENT", "KILL", "TYPE", "pubsub")
        await eventually(holds(heard, *HELLO, *HELLO))
        server.command("PUBLISH", CHANNELS[0], "5")
        await eventually(holds(heard, *HELLO, *HELLO, (CHANNELS[0], b"5")))


@pytest.mark.parametrize("rules", [["-subscribe"], ["resetchannels"], ["resetchannels", "&caf*"]])
async def test_it_ends_where_nobody_may_listen(
    server: RunningServer, as_user: SetUser, rules: list[str]
) -> None:
    options = as_user("~*", "+@all", *rules)
    async with asyncio.timeout(5):
        assert [notice async for notice in listen(options, CHANNELS)] == []
    assert subscribers(server) == 0
