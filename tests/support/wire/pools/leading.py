"""Candidates for the lead of a pool."""

from datetime import timedelta

from streamops.model.ids import EPOCH
from streamops.model.pools import PoolDecision
from streamops.model.scaling import ScaleCode
from streamops.wire.pools.leading import (
    Bid,
    Bidder,
    Seat,
    take_leads,
)
from streamops.wire.server import Server

LEASE = timedelta(seconds=15)
UP = PoolDecision(at=EPOCH, code=ScaleCode.BACKLOG, text="900 waiting", ordered=2, ready=2, target=4)


async def seat(
    connected: Server, holder: str, *, pool: str = "p", advises: bool = False, **announced: str
) -> Seat:
    (told,) = await take_leads(connected, Bidder(holder, LEASE, advises), [Bid(pool, announced)])
    assert isinstance(told, Seat)
    return told
