"""The lead of pools: who has it, who may write, and what of it every version of the server says."""

import pytest

from streamops.errors import StreamopsError
from streamops.wire.keys import pool_key
from streamops.wire.pools.leading import (
    Bid,
    Bidder,
    Seat,
    leave_leads,
    take_leads,
)
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.pools.leading import LEASE, seat

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_one_leads_until_it_leaves_or_is_not_heard_of(server: RunningServer, connected: Server) -> None:
    first = await seat(connected, "first", stream="orders", max="9")
    assert first.leads
    assert first.pool.lead is not None
    assert first.pool.lead.until - first.now == LEASE
    assert (first.pool.stream, first.pool.maximum, first.pool.lead.term) == ("orders", 9, 1)
    second = await seat(connected, "second", stream="other")
    assert not second.leads
    assert second.pool.lead is not None
    assert (second.pool.lead.holder, second.pool.stream) == ("first", "orders")
    assert (await seat(connected, "first")).pool.lead == (await seat(connected, "second")).pool.lead
    await leave_leads(connected, "second", ["p"])
    assert (await seat(connected, "first")).leads
    await leave_leads(connected, "first", ["p", "never led"])
    assert (await seat(connected, "second")).leads
    server.command("HSET", pool_key("p"), "leader_until", 1)
    third = await seat(connected, "third")
    assert third.leads
    assert third.pool.lead is not None
    assert third.pool.lead.term == 3


async def test_many_are_asked_for_together_and_each_has_its_own_answer(
    server: RunningServer, connected: Server
) -> None:
    server.command("SET", pool_key("b"), "no pool")
    await seat(connected, "other", pool="c")
    bids = [Bid(name, {"stream": name}) for name in "abcd"]
    told = await take_leads(connected, Bidder("me", LEASE), bids)
    assert [isinstance(one, Seat) and one.leads for one in told] == [True, False, False, True]
    assert isinstance(told[1], StreamopsError)
    assert await take_leads(connected, Bidder("me", LEASE), []) == []
