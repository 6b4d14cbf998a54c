"""Replaying from a stream that is no dead-letter queue by its name: only what no group comes to miss."""

import pytest

from streamops.errors import ApplyError, Forbidden, Interrupted, StalePlan
from streamops.model.acting import Limits, Progress
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent
from streamops.operations.replay.run import REPLAY
from tests.support.monitor.dead_letters import add_pairs, make_group
from tests.support.operations.replaying.queues_in_use import EVENTS, REPLAYING, TARGET, YES, add_events
from tests.support.servers import RunningServer

CHOSEN = ReplayIntent(queue=EVENTS, to=TARGET, where="fields.n == '1'")


@pytest.mark.parametrize("intent", [REPLAYING, CHOSEN], ids=["all", "chosen"])
async def test_a_group_that_came_after_the_plan_keeps_its_entries(
    server: RunningServer, intent: ReplayIntent
) -> None:
    add_events(server)
    async with await Console.open(server.options) as console:
        prepared = await console.prepare(intent)
        assert prepared.plan.count == 3
        make_group(server, EVENTS, "late", "0")
        with pytest.raises(StalePlan, match="group late reads it by now"):
            await console.apply(prepared, YES)
    assert (server.command("XLEN", EVENTS), server.command("EXISTS", TARGET)) == (3, 0)


async def test_so_does_one_that_was_set_back(server: RunningServer) -> None:
    add_events(server)
    make_group(server, EVENTS, "done", "$")
    async with await Console.open(server.options) as console:
        prepared = await console.prepare(REPLAYING)
        server.command("XGROUP", "SETID", EVENTS, "done", "2-0")
        with pytest.raises(StalePlan, match="group done reads it by now"):
            await console.apply(prepared, YES)
    assert server.command("XLEN", EVENTS) == 3


async def test_so_does_one_that_has_some_pending_again(server: RunningServer) -> None:
    add_events(server)
    make_group(server, EVENTS, "done", "$")
    async with await Console.open(server.options) as console:
        prepared = await console.prepare(REPLAYING)
        server.command("XCLAIM", EVENTS, "done", "w", 0, "1-0", "FORCE")
        with pytest.raises(StalePlan, match="group done reads it by now"):
            await console.apply(prepared, YES)
    assert server.command("XLEN", EVENTS) == 3


async def test_what_comes_after_the_letters_concerns_nobody(server: RunningServer) -> None:
    add_events(server)
    make_group(server, EVENTS, "done", "$")
    async with await Console.open(server.options) as console:
        prepared = await console.prepare(REPLAYING)
        add_pairs(server, EVENTS, [("n", "2")], "4-0")
        add_pairs(server, EVENTS, [("n", "2")], "5-0")
        server.command("XREADGROUP", "GROUP", "done", "w", "COUNT", 1, "STREAMS", EVENTS, ">")
        outcome = await console.apply(prepared, YES)
    assert (outcome.applied, server.command("XLEN", EVENTS)) == (3, 2)


async def test_a_group_that_comes_midway_stops_it_there(server: RunningServer) -> None:
    add_events(server, 40)
    async with await Console.open(server.options) as console:
        prepared = await console.prepare(REPLAYING, Limits(rate=200.0))

        def come(progress: Progress) -> None:
            if progress.done and not server.command("XINFO", "GROUPS", EVENTS):
                make_group(server, EVENTS, "late", "0")

        with pytest.raises(ApplyError, match="group late reads it by now") as told:
            await console.apply(prepared, YES, come)
        outcome = told.value.outcome
        assert not isinstance(told.value, Interrupted)
    left, gone = server.command("XLEN", EVENTS), server.command("XLEN", TARGET)
    assert (left + gone, left > 0, gone > 0) == (40, True, True)
    assert getattr(outcome, "applied") == gone  # noqa: B009 - any outcome


async def test_a_queue_by_name_or_configuration_may_be_read_by_whoever_wants(server: RunningServer) -> None:
    add_events(server)
    watch = Watch(dead_letters={"orders": EVENTS})
    async with await Console.open(server.options, watch) as console:
        prepared = await console.prepare(REPLAYING)
        make_group(server, EVENTS, "alerts", "0")
        assert (await console.apply(prepared, YES)).applied == 3


async def test_going_on_with_it_asks_again(server: RunningServer) -> None:
    add_events(server)
    async with await Console.open(server.options) as console:
        await console.engine.prepare(REPLAY, REPLAYING)
        make_group(server, EVENTS, "late", "0")
        with pytest.raises(Forbidden, match="group late would lose entries"):
            await console.engine.prepare(REPLAY, REPLAYING)
