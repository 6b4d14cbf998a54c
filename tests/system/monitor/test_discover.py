"""Which streams there are: asked for by name or pattern, or found by a scan that stays out of the way."""

from datetime import timedelta

from msgspec.structs import replace

from streamops.model.streams import ReadError
from streamops.operations.console import Console
from tests.support.deployments import RunningCluster
from tests.support.monitor.discover import add_streams


async def test_node_that_cannot_be_scanned_leaves_the_others(cluster: RunningCluster) -> None:
    streams = [f"orders:{number}" for number in range(12)]
    for name in streams:
        add_streams(cluster.node_of(name), name)
    hanging = cluster.nodes[0]
    lost = {name for name in streams if cluster.node_of(name) is hanging}
    options = replace(cluster.options, timeout=timedelta(seconds=0.3))
    async with await Console.open(options) as console:
        hanging.pause()
        try:
            await console.discover()
            assert set(console.discovery.names) == set(streams) - lost
            assert not console.discovery.complete
            snapshot = await console.collect()
        finally:
            hanging.resume()
        assert {gap.part for gap in snapshot.gaps} == {f"node 127.0.0.1:{hanging.port}", "discovery"}
        await console.discover()
        assert set(console.discovery.names) == set(streams)
        assert (await console.collect()).gaps == ()
        # What was known of a node that hangs later on is not forgotten.
        hanging.pause()
        try:
            await console.discover()
        finally:
            hanging.resume()
        assert set(console.discovery.names) == set(streams)
        assert ReadError("no answer in time", part="discovery") not in (await console.collect(streams)).gaps
