"""Listening to channels: through lost connections, without permission, until cancelled."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.wire import notices
from streamops.wire.notices import listen
from streamops.wire.options import ConnectionOptions
from tests.deployments import RunningCluster
from tests.eventually import eventually
from tests.servers import RunningServer, StartServer
from tests.wire.conftest import SetUser

Notice = tuple[str, bytes | None]
CHANNELS = ("{orders}:delayed", "caf\udcff")


@asynccontextmanager
async def listening(options: ConnectionOptions) -> AsyncIterator[list[Notice]]:
    heard: list[Notice] = []
    task = asyncio.create_task(listen(options, CHANNELS, lambda channel, text: heard.append((channel, text))))
    try:
        yield heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def subscribers(server: RunningServer) -> int:
    count: int = server.command("PUBSUB", "NUMSUB", CHANNELS[0])[1]
    return count


def holds(heard: list[Notice], *wanted: Notice) -> Callable[[], bool]:
    return lambda: heard == list(wanted)


HELLO: tuple[Notice, ...] = tuple((channel, None) for channel in CHANNELS)


async def test_what_is_published_is_heard(server: RunningServer) -> None:
    async with listening(server.options) as heard:
        await eventually(holds(heard, *HELLO))
        server.command("PUBLISH", CHANNELS[0], "5")
        server.command("PUBLISH", b"caf\xff", b"\xff")
        server.command("PUBLISH", "another", "6")
        await eventually(holds(heard, *HELLO, (CHANNELS[0], b"5"), (CHANNELS[1], b"\xff")))
    await eventually(lambda: subscribers(server) == 0)


async def test_a_lost_connection_is_made_again(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "PAUSE", 0.01)
    async with listening(server.options) as heard:
        await eventually(holds(heard, *HELLO))
        server.command("CLIENT", "KILL", "TYPE", "pubsub")
        await eventually(holds(heard, *HELLO, *HELLO))
        server.command("PUBLISH", CHANNELS[0], "5")
        await eventually(holds(heard, *HELLO, *HELLO, (CHANNELS[0], b"5")))


async def test_silence_is_looked_into(start_server: StartServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers nothing any more, its connections open, is left for another attempt."""
    monkeypatch.setattr(notices, "PAUSE", 0.01)
    monkeypatch.setattr(notices, "QUIET", 0.02)
    server = start_server()
    async with listening(replace(server.options, timeout=timedelta(seconds=0.2))) as heard:
        await eventually(holds(heard, *HELLO))
        # Signs of life are asked for and given; they are no notices.
        await asyncio.sleep(0.1)
        assert heard == [*HELLO]
        server.pause()
        await asyncio.sleep(0.5)
        server.resume()
        await eventually(lambda: heard[-2:] == [*HELLO] and len(heard) > 2)


async def test_a_server_that_is_away(start_server: StartServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "PAUSE", 0.01)
    server = start_server()
    async with listening(server.options) as heard:
        await eventually(holds(heard, *HELLO))
        server.kill()
        await asyncio.sleep(0.1)
        assert heard == [*HELLO]


@pytest.mark.parametrize("rules", [["-subscribe"], ["resetchannels"], ["resetchannels", "&caf*"]])
async def test_it_ends_where_nobody_may_listen(
    server: RunningServer, as_user: SetUser, rules: list[str]
) -> None:
    options = as_user("~*", "+@all", *rules)
    await asyncio.wait_for(listen(options, CHANNELS, lambda _channel, _text: None), 5)
    assert subscribers(server) == 0


async def test_any_node_of_a_cluster_tells_of_all(cluster: RunningCluster) -> None:
    async with listening(cluster.options) as heard:
        await eventually(holds(heard, *HELLO))
        for node in cluster.nodes:
            node.command("PUBLISH", CHANNELS[0], "5")
        await eventually(lambda: heard[2:] == [(CHANNELS[0], b"5")] * len(cluster.nodes))
