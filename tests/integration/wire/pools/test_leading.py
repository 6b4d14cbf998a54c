"""The lead of pools: who has it, who may write, and what of it every version of the server says."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.errors import Refused, StalePlan, StreamopsError
from streamops.model.pools import FencingToken, Pool
from streamops.wire.batches import Answers
from streamops.wire.keys import pool_key
from streamops.wire.options import Secret
from streamops.wire.pools.leading import (
    DecisionRecord,
    LeaderLease,
    Written,
    keep_learned,
    keep_lease,
    leave_leases,
    read_decisions,
    read_learned,
    write_decisions,
)
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.pools.leading import LEASE, UP, lease


def token(lease: LeaderLease, **changes: Any) -> FencingToken:
    lead = lease.pool.lead
    assert lead is not None
    given = {"holder": lead.holder, "term": lead.term, "lease": LEASE, "steered_at": None, **changes}
    return FencingToken(**given)


async def test_who_only_advises_makes_way_for_who_does_not(connected: Server) -> None:
    assert (await lease(connected, "adviser", advises=True)).leads
    assert not (await lease(connected, "another adviser", advises=True)).leads
    assert (await lease(connected, "actor")).leads
    assert not (await lease(connected, "adviser", advises=True)).leads
    assert not (await lease(connected, "second actor")).leads
    await leave_leases(connected, "actor", ["p"])
    assert (await lease(connected, "adviser", advises=True)).leads


async def test_a_mandate_holds_as_long_as_its_lead_and_what_people_said(
    server: RunningServer, connected: Server
) -> None:
    mine = token(await lease(connected, "me"))
    await keep_lease(connected, "p", mine)
    for told in ({"term": 9}, {"holder": "somebody"}):
        with pytest.raises(StalePlan, match="another controller"):
            await keep_lease(connected, "p", token(await lease(connected, "me"), **told))
    server.command("HSET", pool_key("p"), "steered_at", 7)
    with pytest.raises(StalePlan, match="overrides or limits were changed"):
        await keep_lease(connected, "p", mine)
    server.command("HDEL", pool_key("p"), "steered_at")
    server.command("HSET", pool_key("p"), "leader_until", 1)
    await keep_lease(connected, "p", mine)
    server.command("HSET", pool_key("p"), "leader_until", 1)
    await lease(connected, "other")
    with pytest.raises(StalePlan, match="another controller"):
        await keep_lease(connected, "p", mine)


async def test_decisions_are_counted_and_those_that_are_news_kept(
    server: RunningServer, connected: Server
) -> None:
    pools = [(await lease(connected, "me", pool=name)).pool for name in "abc"]
    server.command("HSET", pool_key("b"), "leader", "other")
    told = [
        DecisionRecord(pool, UP, errors, log)
        for pool, errors, log in zip(pools, (0, 1, 2), (True, True, False), strict=True)
    ]
    written = await write_decisions(connected, "me", told)
    assert [(one.counted, type(one.problem)) for one in written] == [
        (True, type(None)),
        (False, StalePlan),
        (True, type(None)),
    ]
    assert [len(await read_decisions(connected, name, 9)) for name in "abc"] == [1, 0, 0]
    counts = [(await lease(connected, "x", pool=name)).pool for name in "abc"]
    assert [one.decisions for one in counts] == [{("up", "backlog"): 1}, {}, {("up", "backlog"): 1}]
    assert [one.errors for one in counts] == [0, 0, 2]
    assert counts[0].last == UP
    await write_decisions(connected, "me", told)
    assert (await lease(connected, "x", pool="a")).pool.decisions == {("up", "backlog"): 2}
    assert await write_decisions(connected, "me", []) == []


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
    server: RunningServer, connected: Server
) -> None:
    slow = Interrupted(server.options)
    mine = (await lease(slow, "me")).pool

    async def lose() -> None:
        server.command("HDEL", pool_key("p"), "leader")
        theirs = (await lease(connected, "other")).pool
        (written,) = await write_decisions(
            connected, "other", [DecisionRecord(theirs, replace(UP, text="theirs"), 0, log=True)]
        )
        assert written == Written(counted=True, problem=None)

    slow.then = lose
    (written,) = await write_decisions(slow, "me", [DecisionRecord(mine, UP, 0, log=True)])
    await slow.close()
    assert written == Written(counted=True, problem=None)
    assert [one.text for one in await read_decisions(connected, "p", 9)] == ["theirs", UP.text]
    assert (await lease(connected, "other")).pool.last == replace(UP, text="theirs")


async def test_a_log_that_cannot_be_written_is_told_of(server: RunningServer, connected: Server) -> None:
    pool = (await lease(connected, "me")).pool
    server.command("SET", "streamops:decisions:p", "text")
    (written,) = await write_decisions(connected, "me", [DecisionRecord(pool, UP, 0, log=True)])
    assert (written.counted, written.problem is None) == (True, False)
    with pytest.raises(StreamopsError):
        await read_decisions(connected, "p", 1)


async def test_whoever_may_not_use_the_log_writes_the_pool_all_the_same(
    server: RunningServer, connected: Server
) -> None:
    server.command("ACL", "SETUSER", "modest", "on", ">right", "+@all", f"~{pool_key('*')}")
    modest = await Server.connect(replace(server.options, username="modest", password=Secret("right")))
    try:
        pools = [(await lease(modest, "me", pool=name)).pool for name in "pqr"]
        server.command("HSET", pool_key("q"), "leader", "other")
        written = await write_decisions(
            modest, "me", [DecisionRecord(pool, UP, 1, log=True) for pool in pools]
        )
    finally:
        await modest.close()
        server.command("ACL", "DELUSER", "modest")
    assert [(one.counted, type(one.problem)) for one in written] == [
        (True, Refused),
        (False, StalePlan),
        (True, Refused),
    ]
    counts = [(await lease(connected, "x", pool=name)).pool for name in "pqr"]
    assert [(one.decisions, one.errors) for one in counts] == [
        ({("up", "backlog"): 1}, 1),
        ({}, 0),
        ({("up", "backlog"): 1}, 1),
    ]
    assert await read_decisions(connected, "p", 9) == []


async def test_nobody_s_decision_is_written(connected: Server) -> None:
    (written,) = await write_decisions(connected, "me", [DecisionRecord(Pool(name="p"), UP, 0, log=True)])
    assert isinstance(written.problem, StalePlan)


async def test_what_was_learned_is_kept_for_an_hour(server: RunningServer, connected: Server) -> None:
    await keep_learned(connected, {"p": b"\x00\xff", "q": b""})
    server.command("HSET", "streamops:learned:r", "not", "this")
    assert await read_learned(connected, ["p", "q", "r", "s"]) == {"p": b"\x00\xff", "q": b""}
    assert 3_590_000 < server.command("PTTL", "streamops:learned:p") <= 3_600_000
