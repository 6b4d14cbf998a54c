"""The lead of pools: who has it, who may write, and what of it every version of the server says."""

from collections.abc import AsyncIterator

import pytest

from streamops.wire.pools.leading import (
    Bid,
    Bidder,
    Seat,
    Told,
    Written,
    leave_leads,
    read_decisions,
    take_leads,
    write_decisions,
)
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.servers import RunningServer
from tests.support.wire.pools.leading import LEASE, UP


@pytest.fixture
async def wire(server: RunningServer) -> AsyncIterator[Server]:
    wire = await Server.connect(server.options)
    yield wire
    await wire.close()


async def test_pools_of_a_cluster_are_led_from_one_place(cluster: RunningCluster) -> None:
    wire = await Server.connect(cluster.options)
    try:
        names = [f"pool-{number}" for number in range(30)]
        bids = [Bid(name, {}) for name in names]
        seats = await take_leads(wire, Bidder("me", LEASE), bids)
        assert all(isinstance(one, Seat) and one.leads for one in seats)
        told = [Told(one.pool, UP, 0, log=True) for one in seats if isinstance(one, Seat)]
        assert await write_decisions(wire, "me", told) == [Written(counted=True, problem=None)] * 30
        assert [len(await read_decisions(wire, name, 9)) for name in names] == [1] * 30
        await leave_leads(wire, "me", names)
        again = await take_leads(wire, Bidder("other", LEASE), bids)
        assert all(isinstance(one, Seat) and one.leads for one in again)
    finally:
        await wire.close()
