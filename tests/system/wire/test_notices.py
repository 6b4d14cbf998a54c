"""Listening to channels: through lost connections, without permission, until cancelled."""

from tests.support.deployments import RunningCluster
from tests.support.eventually import eventually
from tests.support.servers import StartServer
from tests.support.wire.notices import CHANNELS, HELLO, holds, listening


async def test_a_server_that_is_away(start_server: StartServer) -> None:
    server = start_server()
    async with listening(server.options) as heard:
        await eventually(holds(heard, *HELLO))
        server.kill()
        server.restart()
        await eventually(holds(heard, *HELLO, *HELLO))


async def test_any_node_of_a_cluster_tells_of_all(cluster: RunningCluster) -> None:
    async with listening(cluster.options) as heard:
        await eventually(holds(heard, *HELLO))
        for node in cluster.nodes:
            node.command("PUBLISH", CHANNELS[0], "5")
        await eventually(lambda: heard[2:] == [(CHANNELS[0], b"5")] * len(cluster.nodes))
