"""Publishing to real servers: entries, many of them, delayed ones, and what is told where it fails."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import (
    Forbidden,
    Unreachable,
)
from streamops.runtime.publisher import Publisher
from tests.support.deployments import RunningCluster
from tests.support.runtime.publishing import HOUR, ORDERS, STOCK
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import entries_of


@pytest.fixture
async def publisher(server: RunningServer) -> AsyncIterator[Publisher]:
    async with Publisher(server.options, schemas=[ORDERS, STOCK]) as publisher:
        yield publisher


async def test_a_lost_reply_is_told_and_nothing_is_sent_twice(start_server: StartServer) -> None:
    server = start_server()
    options = replace(server.tcp_options, timeout=timedelta(seconds=0.3))
    async with Publisher(options) as publisher:
        server.pause()
        with pytest.raises(
            Unreachable, match="it is not known whether the entry was added to orders"
        ) as raised:
            await publisher.publish("orders", {"n": 1})
        assert "id=" in raised.value.hint
        server.resume()
        await publisher.publish("orders", {"n": 2})
        assert [parts for _, parts in entries_of(server, "orders")] == [[b"n", b"1"], [b"n", b"2"]]
        server.kill()
        with pytest.raises(Unreachable):
            await publisher.publish("orders", {"n": 3})
        with pytest.raises(Unreachable, match="nothing was added to orders"):
            await publisher.publish("orders", {"n": 4})
        with pytest.raises(Unreachable, match="nothing was added to orders"):
            await publisher.publish_many("orders", [{"n": 4}])


async def test_streams_on_all_nodes(cluster: RunningCluster) -> None:
    async with Publisher(cluster.options) as publisher:
        streams = [f"orders-{number}" for number in range(30)]
        ids = await asyncio.gather(*(publisher.publish(stream, {"n": 1}) for stream in streams))
        assert [entries_of(cluster.node_of(stream), stream)[0][0] for stream in streams] == ids
        await publisher.publish("orders", {"n": 1}, delay=HOUR, payload=b"x")
        with pytest.raises(Forbidden, match="no key can be made"):
            await publisher.publish("a}b", {"n": 1}, delay=HOUR)
        with pytest.raises(Forbidden, match=r"cannot change together|no key can be made"):
            await publisher.publish("a}b", {"n": 1}, payload=b"x")
        assert await publisher.publish("a}b", {"n": 1})
