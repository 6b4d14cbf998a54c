"""Commands of many callers sent together: nobody disturbs anybody, and everybody has their own answer."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.wire.batches import Request
from streamops.wire.gathering import Gatherer
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.servers import StartServer
from tests.support.wire.gathering import echo


async def test_a_lost_server_is_told_to_all_who_were_sent(start_server: StartServer) -> None:
    running = start_server()
    server = await Server.connect(replace(running.tcp_options, timeout=timedelta(seconds=0.3)))
    gatherer = Gatherer(server)
    running.pause()
    calls = [asyncio.create_task(gatherer.send(echo(str(number)))) for number in range(4)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, Unreachable) for answer in answers)
    assert len({id(answer) for answer in answers}) == 4
    assert isinstance(answers[0], Unreachable)
    assert answers[0].sent
    running.resume()
    assert await gatherer.send(echo("again")) == "again"
    running.kill()
    with pytest.raises(Unreachable):
        await gatherer.send(echo("x"))
    with pytest.raises(Unreachable) as raised:
        await gatherer.send(echo("x"))
    assert not raised.value.sent
    await server.close()


async def test_each_node_of_a_cluster_has_a_lane_of_its_own(cluster: RunningCluster) -> None:
    server = await Server.connect(cluster.options)
    gatherer = Gatherer(server)
    keys = [f"key-{number}" for number in range(60)]
    await asyncio.gather(*(gatherer.send(Request(key, ("SET", key, key))) for key in keys))
    found = await asyncio.gather(*(gatherer.send(Request(key, ("GET", key), bytes.decode)) for key in keys))
    assert found == keys
    await server.close()
