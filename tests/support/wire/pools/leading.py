"""Candidates for the lead of a pool."""

from datetime import timedelta

from streamops.model.entries import EPOCH
from streamops.model.pools import PoolDecision, ScaleCode
from streamops.wire.pools.leading import (
    LeaderCandidate,
    LeaderLease,
    LeaseRequest,
    take_leases,
)
from streamops.wire.server import Server

LEASE = timedelta(seconds=15)
UP = PoolDecision(at=EPOCH, code=ScaleCode.BACKLOG, text="900 waiting", ordered=2, ready=2, target=4)


async def lease(
    connected: Server, holder: str, *, pool: str = "p", advises: bool = False, **announced: str
) -> LeaderLease:
    (told,) = await take_leases(
        connected, LeaderCandidate(holder, LEASE, advises), [LeaseRequest(pool, announced)]
    )
    assert isinstance(told, LeaderLease)
    return told
