"""Workers and pools, found by going through all keys once, and read again without."""

from streamops.operations.console import Console
from tests.support.monitor.workers import beat
from tests.support.servers import RunningServer


async def test_pools_are_those_with_workers_and_those_that_were_told_something(server: RunningServer) -> None:
    beat(server, "so-1")
    beat(server, "so-2", pool="mail")
    server.command("HSET", "streamops:pool:night", "mode", "paused", "updated_by", "ada", "updated_at", "9")
    server.command("HSET", "streamops:job:1", "state", "done")
    server.command("HSET", "other:worker:x", "a", "b")
    async with await Console.open(server.options) as console:
        crowd = await console.workers.with_pools()
        assert [heart.id for heart in crowd.workers] == ["so-1", "so-2"]
        assert [(pool.name, pool.mode) for pool in crowd.pools] == [
            ("billing", ""),
            ("mail", ""),
            ("night", "paused"),
        ]
        assert crowd.now is not None
        server.command("DEL", "streamops:worker:so-2")
        server.command("HSET", "streamops:pool:billing", "mode", "paused")
        beat(server, "so-3")
        again = await console.workers.again(crowd)
        assert [heart.id for heart in again.workers] == ["so-1"]
        assert {pool.name: pool.mode for pool in again.pools}["billing"] == "paused"
        assert [heart.id for heart in (await console.workers.all()).workers] == ["so-1", "so-3"]
