"""A script reaches every key, whatever its server has seen of it before."""

from streamops.model.streams import Mode
from streamops.wire.script_calls import run_script
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.wire.script_calls import counting


async def test_key_that_moved_to_a_server_without_the_script(cluster: RunningCluster) -> None:
    """One node alone is asked, and sends the key to another, which has not seen the source."""
    keys = [f"s{number}" for number in range(12)]
    for key in keys:
        cluster.node_of(key).command("XADD", key, "*", "f", "v")
    for node in cluster.nodes:
        node.command("SCRIPT", "FLUSH")
    connection = await Server.connect(cluster.options)
    topology = connection._topology
    everything_here = topology.node_of(keys[0])
    assert connection.options.mode is Mode.CLUSTER
    topology.node_of = lambda _key: everything_here  # type: ignore[method-assign,assignment]  # a map that is out of date
    replies = (
        await run_script(connection, "count_range", [counting(key) for key in keys], read_only=True)
    ).replies
    await connection.close()
    assert replies == [("counted", 1)] * len(keys)
