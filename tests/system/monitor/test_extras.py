"""What is read beside snapshots, on every server: queues, memory, workers, and what happens without permission."""

from streamops.wire.consuming.heartbeats import write_heartbeat
from tests.support.deployments import RunningCluster
from tests.support.invented import minutes
from tests.support.monitor.extras import at, extras_of, heart


async def test_all_extras_are_read_on_a_cluster(cluster: RunningCluster) -> None:
    async with extras_of(cluster.options) as (extras, console):
        server = console.place.server
        for name in ("a", "b", "c", "d"):
            await server.single(name, "XADD", name, "*", "n", "1")
            await server.single(f"{{{name}}}:delayed", "ZADD", f"{{{name}}}:delayed", 5, "m")
            await write_heartbeat(server, heart(f"so-{name}", "shop"), minutes(1))
        await console.discover()
        await extras.find_queues()
        await extras.measure()
        await extras.find_workers()
        found = await extras.read(at(9))
        assert [one.queue for one in found.queues] == [f"{{{name}}}:delayed" for name in "abcd"]
        assert set(found.memory) == set("abcd")
        assert len(found.workers) == 4
