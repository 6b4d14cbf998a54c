"""The lead of pools: who has it, who may write, and what of it every version of the server says."""

from streamops.wire.pools.leading import (
    DecisionRecord,
    LeaderCandidate,
    LeaderLease,
    LeaseRequest,
    Written,
    leave_leases,
    read_decisions,
    take_leases,
    write_decisions,
)
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.wire.pools.leading import LEASE, UP


async def test_pools_of_a_cluster_are_led_from_one_place(cluster: RunningCluster) -> None:
    connected = await Server.connect(cluster.options)
    try:
        names = [f"pool-{number}" for number in range(30)]
        requests = [LeaseRequest(name, {}) for name in names]
        leases = await take_leases(connected, LeaderCandidate("me", LEASE), requests)
        assert all(isinstance(one, LeaderLease) and one.leads for one in leases)
        told = [DecisionRecord(one.pool, UP, 0, log=True) for one in leases if isinstance(one, LeaderLease)]
        assert await write_decisions(connected, "me", told) == [Written(counted=True, problem=None)] * 30
        assert [len(await read_decisions(connected, name, 9)) for name in names] == [1] * 30
        await leave_leases(connected, "me", names)
        again = await take_leases(connected, LeaderCandidate("other", LEASE), requests)
        assert all(isinstance(one, LeaderLease) and one.leads for one in again)
    finally:
        await connected.close()
