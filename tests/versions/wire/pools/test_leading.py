"""The lead of pools: who has it, who may write, and what of it every version of the server says."""

import pytest

from streamops.errors import StreamopsError
from streamops.wire.keys import pool_key
from streamops.wire.pools.leading import (
    LeaderCandidate,
    LeaderLease,
    LeaseRequest,
    leave_leases,
    take_leases,
)
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.pools.leading import LEASE, lease

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_one_leads_until_it_leaves_or_is_not_heard_of(server: RunningServer, connected: Server) -> None:
    first = await lease(connected, "first", stream="orders", max="9")
    assert first.leads
    assert first.pool.lead is not None
    assert first.pool.lead.until - first.now == LEASE
    assert (first.pool.stream, first.pool.maximum, first.pool.lead.term) == ("orders", 9, 1)
    second = await lease(connected, "second", stream="other")
    assert not second.leads
    assert second.pool.lead is not None
    assert (second.pool.lead.holder, second.pool.stream) == ("first", "orders")
    assert (await lease(connected, "first")).pool.lead == (await lease(connected, "second")).pool.lead
    await leave_leases(connected, "second", ["p"])
    assert (await lease(connected, "first")).leads
    await leave_leases(connected, "first", ["p", "never led"])
    assert (await lease(connected, "second")).leads
    server.command("HSET", pool_key("p"), "leader_until", 1)
    third = await lease(connected, "third")
    assert third.leads
    assert third.pool.lead is not None
    assert third.pool.lead.term == 3


async def test_many_are_asked_for_together_and_each_has_its_own_answer(
    server: RunningServer, connected: Server
) -> None:
    server.command("SET", pool_key("b"), "no pool")
    await lease(connected, "other", pool="c")
    requests = [LeaseRequest(name, {"stream": name}) for name in "abcd"]
    told = await take_leases(connected, LeaderCandidate("me", LEASE), requests)
    assert [isinstance(one, LeaderLease) and one.leads for one in told] == [True, False, False, True]
    assert isinstance(told[1], StreamopsError)
    assert await take_leases(connected, LeaderCandidate("me", LEASE), []) == []
