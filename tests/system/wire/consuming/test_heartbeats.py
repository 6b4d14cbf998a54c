"""Heartbeats on a cluster, of which a node may be silent."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.wire.consuming.heartbeats import read_namesake
from streamops.wire.keys import worker_key
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster


async def test_a_namesake_on_a_silent_node_is_not_taken_for_none(cluster: RunningCluster) -> None:
    node = cluster.node_of(worker_key("mailer"))
    node.command("HSET", worker_key("mailer"), "host", "there", "pid", 7, "beat_ms", 1)
    server = await Server.connect(replace(cluster.options, timeout=timedelta(seconds=0.3)))
    try:
        assert await read_namesake(server, "mailer") == ("there", 7, 1)
        node.pause()
        with pytest.raises(Unreachable):
            await read_namesake(server, "mailer")
    finally:
        node.resume()
        await server.close()
