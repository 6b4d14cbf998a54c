"""The lead of pools: who has it, who may write, and what of it every version of the server says."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.errors import Refused, StalePlan, StreamopsError
from streamops.model.acts.scaling import Mandate
from streamops.model.pools import Pool
from streamops.wire.batches import Answers
from streamops.wire.keys import pool_key
from streamops.wire.options import Secret
from streamops.wire.pools.leading import (
    Bid,
    Bidder,
    Seat,
    Told,
    Written,
    keep_lead,
    keep_learned,
    leave_leads,
    read_decisions,
    read_learned,
    take_leads,
    write_decisions,
)
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.pools.leading import LEASE, UP

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


@pytest.fixture
async def wire(server: RunningServer) -> AsyncIterator[Server]:
    wire = await Server.connect(server.options)
    yield wire
    await wire.close()


async def seat(
    wire: Server, holder: str, *, pool: str = "p", advises: bool = False, **announced: str
) -> Seat:
    (told,) = await take_leads(wire, Bidder(holder, LEASE, advises), [Bid(pool, announced)])
    assert isinstance(told, Seat)
    return told


def mandate(seat: Seat, **changes: Any) -> Mandate:
    lead = seat.pool.lead
    assert lead is not None
    given = {"holder": lead.holder, "term": lead.term, "lease": LEASE, "steered_at": None, **changes}
    return Mandate(**given)


async def test_one_leads_until_it_leaves_or_is_not_heard_of(server: RunningServer, wire: Server) -> None:
    first = await seat(wire, "first", stream="orders", max="9")
    assert first.leads
    assert first.pool.lead is not None
    assert first.pool.lead.until - first.now == LEASE
    assert (first.pool.stream, first.pool.maximum, first.pool.lead.term) == ("orders", 9, 1)
    second = await seat(wire, "second", stream="other")
    assert not second.leads
    assert second.pool.lead is not None
    assert (second.pool.lead.holder, second.pool.stream) == ("first", "orders")
    assert (await seat(wire, "first")).pool.lead == (await seat(wire, "second")).pool.lead
    await leave_leads(wire, "second", ["p"])
    assert (await seat(wire, "first")).leads
    await leave_leads(wire, "first", ["p", "never led"])
    assert (await seat(wire, "second")).leads
    server.command("HSET", pool_key("p"), "leader_until", 1)
    third = await seat(wire, "third")
    assert third.leads
    assert third.pool.lead is not None
    assert third.pool.lead.term == 3


async def test_who_only_advises_makes_way_for_who_does_not(wire: Server) -> None:
    assert (await seat(wire, "adviser", advises=True)).leads
    assert not (await seat(wire, "another adviser", advises=True)).leads
    assert (await seat(wire, "actor")).leads
    assert not (await seat(wire, "adviser", advises=True)).leads
    assert not (await seat(wire, "second actor")).leads
    await leave_leads(wire, "actor", ["p"])
    assert (await seat(wire, "adviser", advises=True)).leads


async def test_many_are_asked_for_together_and_each_has_its_own_answer(
    server: RunningServer, wire: Server
) -> None:
    server.command("SET", pool_key("b"), "no pool")
    await seat(wire, "other", pool="c")
    bids = [Bid(name, {"stream": name}) for name in "abcd"]
    told = await take_leads(wire, Bidder("me", LEASE), bids)
    assert [isinstance(one, Seat) and one.leads for one in told] == [True, False, False, True]
    assert isinstance(told[1], StreamopsError)
    assert await take_leads(wire, Bidder("me", LEASE), []) == []


async def test_a_mandate_holds_as_long_as_its_lead_and_what_people_said(
    server: RunningServer, wire: Server
) -> None:
    mine = mandate(await seat(wire, "me"))
    await keep_lead(wire, "p", mine)
    for told in ({"term": 9}, {"holder": "somebody"}):
        with pytest.raises(StalePlan, match="another controller"):
            await keep_lead(wire, "p", mandate(await seat(wire, "me"), **told))
    server.command("HSET", pool_key("p"), "steered_at", 7)
    with pytest.raises(StalePlan, match="told something else"):
        await keep_lead(wire, "p", mine)
    server.command("HDEL", pool_key("p"), "steered_at")
    server.command("HSET", pool_key("p"), "leader_until", 1)
    await keep_lead(wire, "p", mine)
    server.command("HSET", pool_key("p"), "leader_until", 1)
    await seat(wire, "other")
    with pytest.raises(StalePlan, match="another controller"):
        await keep_lead(wire, "p", mine)


async def test_decisions_are_counted_and_those_that_are_news_kept(
    server: RunningServer, wire: Server
) -> None:
    pools = [(await seat(wire, "me", pool=name)).pool for name in "abc"]
    server.command("HSET", pool_key("b"), "leader", "other")
    told = [
        Told(pool, UP, errors, log)
        for pool, errors, log in zip(pools, (0, 1, 2), (True, True, False), strict=True)
    ]
    written = await write_decisions(wire, "me", told)
    assert [(one.counted, type(one.problem)) for one in written] == [
        (True, type(None)),
        (False, StalePlan),
        (True, type(None)),
    ]
    assert [len(await read_decisions(wire, name, 9)) for name in "abc"] == [1, 0, 0]
    counts = [(await seat(wire, "x", pool=name)).pool for name in "abc"]
    assert [one.decisions for one in counts] == [{("up", "backlog"): 1}, {}, {("up", "backlog"): 1}]
    assert [one.errors for one in counts] == [0, 0, 2]
    assert counts[0].last == UP
    await write_decisions(wire, "me", told)
    assert (await seat(wire, "x", pool="a")).pool.decisions == {("up", "backlog"): 2}
    assert await write_decisions(wire, "me", []) == []


class Interrupted(Server):
    """A server whose next batch is followed by something else before whoever sent it goes on."""

    then: Callable[[], Awaitable[None]] | None = None

    async def batch(self, *asked: Any, **how: Any) -> Answers:
        answers = await super().batch(*asked, **how)
        if self.then is not None:
            then, self.then = self.then, None
            await then()
        return answers


async def test_who_has_lost_the_lead_writes_nothing_behind_who_has_it(
    server: RunningServer, wire: Server
) -> None:
    slow = Interrupted(server.options)
    mine = (await seat(slow, "me")).pool

    async def lose() -> None:
        server.command("HDEL", pool_key("p"), "leader")
        theirs = (await seat(wire, "other")).pool
        (written,) = await write_decisions(
            wire, "other", [Told(theirs, replace(UP, text="theirs"), 0, log=True)]
        )
        assert written == Written(counted=True, problem=None)

    slow.then = lose
    (written,) = await write_decisions(slow, "me", [Told(mine, UP, 0, log=True)])
    await slow.close()
    assert written == Written(counted=True, problem=None)
    assert [one.text for one in await read_decisions(wire, "p", 9)] == ["theirs", UP.text]
    assert (await seat(wire, "other")).pool.last == replace(UP, text="theirs")


async def test_a_log_that_cannot_be_written_is_told_of(server: RunningServer, wire: Server) -> None:
    pool = (await seat(wire, "me")).pool
    server.command("SET", "streamops:decisions:p", "text")
    (written,) = await write_decisions(wire, "me", [Told(pool, UP, 0, log=True)])
    assert (written.counted, written.problem is None) == (True, False)
    with pytest.raises(StreamopsError):
        await read_decisions(wire, "p", 1)


async def test_whoever_may_not_use_the_log_writes_the_pool_all_the_same(
    server: RunningServer, wire: Server
) -> None:
    server.command("ACL", "SETUSER", "modest", "on", ">right", "+@all", f"~{pool_key('*')}")
    modest = await Server.connect(replace(server.options, username="modest", password=Secret("right")))
    try:
        pools = [(await seat(modest, "me", pool=name)).pool for name in "pqr"]
        server.command("HSET", pool_key("q"), "leader", "other")
        written = await write_decisions(modest, "me", [Told(pool, UP, 1, log=True) for pool in pools])
    finally:
        await modest.close()
        server.command("ACL", "DELUSER", "modest")
    assert [(one.counted, type(one.problem)) for one in written] == [
        (True, Refused),
        (False, StalePlan),
        (True, Refused),
    ]
    counts = [(await seat(wire, "x", pool=name)).pool for name in "pqr"]
    assert [(one.decisions, one.errors) for one in counts] == [
        ({("up", "backlog"): 1}, 1),
        ({}, 0),
        ({("up", "backlog"): 1}, 1),
    ]
    assert await read_decisions(wire, "p", 9) == []


async def test_nobody_s_decision_is_written(wire: Server) -> None:
    (written,) = await write_decisions(wire, "me", [Told(Pool(name="p"), UP, 0, log=True)])
    assert isinstance(written.problem, StalePlan)


async def test_what_was_learned_is_kept_for_an_hour(server: RunningServer, wire: Server) -> None:
    await keep_learned(wire, {"p": b"\x00\xff", "q": b""})
    server.command("HSET", "streamops:learned:r", "not", "this")
    assert await read_learned(wire, ["p", "q", "r", "s"]) == {"p": b"\x00\xff", "q": b""}
    assert 3_590_000 < server.command("PTTL", "streamops:learned:p") <= 3_600_000
