"""A failover to older data, under a controller: nothing is changed wrongly, and it goes on by itself."""

import asyncio

from tests.support.autoscaling.outages import assert_goes_on, assert_holds, led
from tests.support.autoscaling.pools import add_waiting
from tests.support.eventually import SETTLE_SECONDS
from tests.support.servers import RunningServer, StartServer


async def test_a_primary_that_becomes_a_replica_and_is_promoted_with_older_data(
    start_server: StartServer,
) -> None:
    own, older = (start_server("--repl-diskless-sync-delay", "0") for _ in range(2))
    add_waiting(own, entries=10)
    async with led(own) as case:
        older.command("REPLICAOF", "127.0.0.1", own.port)
        await _synced(older)
        older.command("REPLICAOF", "NO", "ONE")
        own.command("XADD", "orders", "*", "n", "lost in the failover")
        assert await case.is_led()
        own.command("REPLICAOF", "127.0.0.1", older.port)
        await _synced(own)
        await assert_holds(case, ["pool cannot be led"])
        own.command("REPLICAOF", "NO", "ONE")
        await assert_goes_on(own, case)


async def _synced(replica: RunningServer) -> None:
    async with asyncio.timeout(SETTLE_SECONDS):
        while replica.client.info("replication").get("master_link_status") != "up":  # noqa: ASYNC110 - another process's
            await asyncio.sleep(0.05)
