"""Resizing pools and steering their controllers, on real servers."""

from datetime import timedelta

import pytest

from streamops.errors import Forbidden, NotFound, StalePlan, TargetChanged, TargetError
from streamops.model.entries import EPOCH, EntryId
from streamops.model.pools import Order, PoolOverrides, PoolSupervisor
from streamops.operations.autoscale.intent import (
    LimitsIntent,
    OverrideIntent,
    PauseScalingIntent,
    ResumeScalingIntent,
    ScaleIntent,
)
from streamops.operations.console import Console
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.pools.registry import register_supervisor
from tests.support.operations.doing import applied, done, planned
from tests.support.servers import RunningServer

POOL, KEY = "p", "streamops:pool:p"
TWO, THREE = ScaleIntent(pool=POOL, workers=2), ScaleIntent(pool=POOL, workers=3)
LIMITS = LimitsIntent(pool=POOL, minimum=2, maximum=9)


async def staffed(console: Console, ident: str, aim: int, ready: int) -> None:
    """One more supervisor of the pool."""
    told = PoolSupervisor(id=ident, at=EPOCH, host="desk", pid=1, aim=aim, alive=aim, ready=ready)
    await register_supervisor(console.place.server, POOL, told)


async def order(console: Console) -> Order:
    found = (await console.pools.one(POOL)).order
    assert found is not None
    return found


async def steering(console: Console) -> PoolOverrides:
    return (await console.pools.one(POOL)).steering


async def test_a_pool_is_told_its_first_number(console: Console) -> None:
    for ident, aim, ready in (("a", 2, 2), ("b", 1, 0)):
        await staffed(console, ident, aim, ready)
    assert (await planned(console, TWO)).sample[0].endswith("3 workers, 2 ready")
    outcome = await done(console, TWO)
    assert (outcome.applied, outcome.notes) == (1, ("pool p was asked for 2 workers",))
    told = await order(console)
    assert (told.workers, told.reason) == (2, "scaled by an operator")
    assert told.by
    assert told.at is not None
    assert (await console.pools.size(POOL)).ordered == 2


async def test_scaling_and_steering_cannot_be_undone_and_say_what_sets_them_back(console: Console) -> None:
    await staffed(console, "a", 2, 2)
    await done(console, TWO)
    for intent, back in (
        (THREE, f"streamops pools scale {POOL} 2"),
        (PauseScalingIntent(pool=POOL), f"streamops autoscale resume {POOL}"),
    ):
        plan = await planned(console, intent)
        assert (plan.reversible, plan.opposite) == (False, back)
        outcome = await done(console, intent)
        with pytest.raises(Forbidden, match="cannot be undone") as caught:
            await console.prepare(UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))
        assert caught.value.hint == f"`{back}` reverses it."


async def test_what_it_was_told_meanwhile_is_not_overruled(console: Console, server: RunningServer) -> None:
    await staffed(console, "a", 2, 2)
    prepared = await console.prepare(THREE)
    server.command("HSET", KEY, "desired", "4")
    with pytest.raises(TargetChanged):
        await applied(console, prepared)
    assert (await order(console)).workers == 4
    prepared = await console.prepare(LIMITS)
    server.command("HSET", KEY, "limit_min", "1")
    with pytest.raises(StalePlan):
        await applied(console, prepared)
    assert await steering(console) == PoolOverrides(minimum=1)


async def test_scaling_is_refused_where_the_target_cannot_be_asked(
    console: Console, server: RunningServer
) -> None:
    with pytest.raises(TargetError):
        await console.prepare(TWO)
    assert server.command("DBSIZE") == 0


async def test_steering_and_back(console: Console) -> None:
    await staffed(console, "a", 2, 2)
    span = timedelta(hours=2)
    await done(console, OverrideIntent(pool=POOL, workers=4, span=span))
    known = await steering(console)
    now = await console.pools.clock()
    assert known.until is not None
    assert now is not None
    assert timedelta() < span - (known.until - now) < timedelta(minutes=1)
    assert (known.override, known.paused) == (4, False)
    await done(console, LIMITS)
    known = await steering(console)
    assert (known.override, known.minimum, known.maximum) == (4, 2, 9)
    await done(console, PauseScalingIntent(pool=POOL))
    known = await steering(console)
    assert (known.override, known.until, known.paused, known.minimum) == (None, None, True, 2)
    assert known.by
    assert known.at is not None
    await done(console, ResumeScalingIntent(pool=POOL))
    known = await steering(console)
    assert (known.paused, known.minimum, known.maximum) == (False, 2, 9)


async def test_steering_twice_changes_nothing(console: Console, server: RunningServer) -> None:
    await staffed(console, "a", 2, 2)
    assert [(await done(console, LIMITS)).applied for _ in range(2)] == [1, 0]
    fields = server.command("HGETALL", KEY)
    assert (await done(console, ResumeScalingIntent(pool=POOL))).applied == 0
    assert server.command("HGETALL", KEY) == fields


async def test_only_who_leads_is_said_to_follow(console: Console, server: RunningServer) -> None:
    await staffed(console, "a", 2, 2)
    assert (await done(console, LIMITS)).notes == ()
    server.command("HSET", KEY, "leader", "web-1", "leader_until", "99999999999999", "term", "1")
    notes = (await done(console, PauseScalingIntent(pool=POOL))).notes
    assert notes == ("its controller follows with its next decision",)


async def test_a_key_that_is_no_pool_is_told(console: Console, server: RunningServer) -> None:
    server.command("SET", KEY, "x")
    for intent in (TWO, LIMITS):
        with pytest.raises(NotFound):
            await console.prepare(intent)


async def test_nonsense_in_a_pool_is_left_out(console: Console, server: RunningServer) -> None:
    server.command("HSET", KEY, "desired", "9" * 5_000, "limit_min", "-3", "override", "many")
    server.command(
        "HSET", KEY, "steered_until", "9" * 30, "decision", "{", "n:up:backlog", "x", b"\xff", b"\xfe"
    )
    pool = await console.pools.one(POOL)
    assert (pool.order, pool.steering, pool.last, pool.decisions) == (None, PoolOverrides(), None, {})
