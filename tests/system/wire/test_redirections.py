"""A node of a cluster that redirects is asked once."""

from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.servers import RunningServer


def redirected(node: RunningServer) -> int:
    stats = node.client.info("errorstats")
    return int(stats.get("errorstat_MOVED", {"count": 0})["count"])


async def test_moved_reply_is_followed_without_asking_the_old_node_again(cluster: RunningCluster) -> None:
    with cluster.moving("s") as move:
        server = await Server.connect(cluster.options)
        try:
            assert await server.single("s", "INCR", "s") == 1
            move.all()
            before = redirected(move.source)
            assert await server.single("s", "INCR", "s") == 2
            assert (redirected(move.source) - before, server.handovers) == (1, 1)
        finally:
            await server.close()


async def test_moved_replies_of_a_pipeline_are_followed_without_asking_the_old_node_again(
    cluster: RunningCluster,
) -> None:
    with cluster.moving("s") as move:
        server = await Server.connect(cluster.options)
        try:
            assert await server.pipeline("s", [("INCR", "s")]) == [1]
            move.all()
            before = redirected(move.source)
            assert await server.pipeline("s", [("INCR", "s")] * 3) == [2, 3, 4]
            assert redirected(move.source) - before == 3
        finally:
            await server.close()
