"""The loop on a real server: leads, decisions and what is written down of them."""

import asyncio
import time

import pytest
from structlog.testing import capture_logs

from streamops.autoscaling.controller import KEEP_EVERY, Controller
from streamops.autoscaling.decisions import Assignment
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import TargetError
from streamops.model.entries import EPOCH
from streamops.model.pools import Applied, PoolSupervisor, ScaleCode
from streamops.wire.pools.registry import register_supervisor
from tests.support.autoscaling.controller import decided
from tests.support.autoscaling.pools import (
    AUDIT,
    GROUP,
    KEY,
    LOG,
    POOL,
    QUICK,
    STREAM,
    Workers,
    add_waiting,
    at_least,
    console_on,
    controlling,
    field,
    options,
    steer,
)
from tests.support.eventually import eventually
from tests.support.servers import RunningServer

# -- the lead ----------------------------------------------------------------------------------------


async def test_a_slow_target_does_not_hold_up_other_pools(server: RunningServer) -> None:
    add_waiting(server)
    hanging, healthy = Workers(1), Workers(1)
    never = asyncio.Event()
    hanging.on_resize = lambda _: never.wait()
    assignment = at_least(4).assignments[0]
    both = tuple(
        Assignment(pool=name, stream=STREAM, group=GROUP, config=assignment.config)
        for name in (POOL, "healthy")
    )
    async with console_on(server, hanging) as console:
        console.place.targets.use("healthy", healthy)
        controller = Controller(console, options(assignments=both, every=QUICK))
        began = time.monotonic()
        report = await controller.round()
        assert time.monotonic() - began < 5
        assert report.decisions[POOL].outcome is Applied.WAITING
        await eventually(lambda: healthy.asked == [4])
        await controller.round()
        assert (hanging.asked, healthy.asked) == ([4], [4])
        await controller.leave()


async def test_a_target_that_does_not_tell_its_size_is_waited_for_and_then_left_alone(
    server: RunningServer,
) -> None:
    add_waiting(server)
    target = Workers()

    def refuse() -> int:
        raise TargetError("deployment shop/billing: 429", "Ask less.")

    target.on_read = refuse
    async with controlling(server, target) as controller:
        first = await decided(controller)
        assert (first.code, first.problem) == (ScaleCode.UNREADABLE, "deployment shop/billing: 429")
        for _ in range(5):
            assert (await decided(controller)).problem == "deployment shop/billing: 429"
        assert target.read_times == 1


# -- what people told it -----------------------------------------------------------------------------


async def test_pause_override_and_limits_hold_from_the_next_round_on(server: RunningServer) -> None:
    add_waiting(server)
    target = Workers(3)
    async with controlling(server, target) as controller:
        assert (await decided(controller)).target == 3
        steer(server, scaling="paused", limit_min=6)
        assert (await decided(controller)).code is ScaleCode.PAUSED
        server.command("HDEL", KEY, "scaling")
        assert (await decided(controller)).target == 6
        steer(server, override=30, steered_at=2)
        told = await decided(controller)
        assert (told.code, told.outcome, target.count) == (ScaleCode.OVERRIDE, Applied.DONE, 30)
        assert (field(server, "min"), field(server, "max")) == ("6", "10")
        server.command("HSET", KEY, "steered_until", 5)
        assert (await decided(controller)).target == 10
        assert target.asked == [6, 30, 10]


async def test_a_pause_in_the_middle_of_a_round_is_heard(server: RunningServer) -> None:
    add_waiting(server)
    target = Workers(1)

    def read_and_be_paused() -> int:
        steer(server, scaling="paused")
        return 1

    target.on_read = read_and_be_paused
    async with controlling(server, target, at_least(4)) as controller:
        assert (await decided(controller)).outcome is Applied.CHANGED
        assert target.asked == []


# -- what cannot be read -----------------------------------------------------------------------------


async def test_a_group_that_comes_goes_and_comes_again(server: RunningServer) -> None:
    target = Workers(3)
    async with controlling(server, target) as controller:
        gone = await decided(controller)
        assert (gone.code, gone.target) == (ScaleCode.UNREADABLE, 3)
        assert gone.text.startswith(f"no group {GROUP} of stream {STREAM}: no such stream")
        add_waiting(server, entries=50)
        codes = [(await decided(controller)).code for _ in range(2)]
        assert codes == [ScaleCode.WARMUP, ScaleCode.SUSPECT]
        server.command("XGROUP", "DESTROY", STREAM, GROUP)
        assert (await decided(controller)).code is ScaleCode.UNREADABLE
        server.command("XGROUP", "CREATE", STREAM, GROUP, "$")
        again = await decided(controller)
        assert (again.code, again.signals.lag) == (ScaleCode.NO_RATE, 0)
        (led,) = controller._pools
        # Fifty that were never read are not taken for fifty that were handled.
        assert (led.state.samples[-1].acked, led.state.rates) == (0, ())
        server.command("DEL", STREAM)
        await decided(controller)
        add_waiting(server)
        assert (await decided(controller)).code is ScaleCode.WARMUP
        assert target.asked == []


async def test_a_pool_below_its_least_is_filled_up_though_its_group_is_not_there_yet(
    server: RunningServer,
) -> None:
    """Its workers make the group; without any it would never come."""
    target = Workers(0)
    async with controlling(server, target, at_least(2)) as controller:
        told = await decided(controller)
        assert (told.code, told.outcome, target.count) == (ScaleCode.LIMIT, Applied.DONE, 2)
        assert (await decided(controller)).code is ScaleCode.UNREADABLE


async def test_a_stream_that_is_none_and_pools_that_may_not_be_read_change_nothing(
    server: RunningServer,
) -> None:
    server.command("SET", STREAM, "text")
    target = Workers(3)
    async with controlling(server, target) as controller:
        told = await decided(controller)
        assert (told.code, told.target) == (ScaleCode.UNREADABLE, 3)
        assert "not a stream" in told.text
        server.command("DEL", STREAM)
        add_waiting(server)
        server.command("SET", f"streamops:roster:{POOL}", "text")
        told = await decided(controller)
        assert (told.code, told.target) == (ScaleCode.UNREADABLE, 3)
        assert "roster" in told.text
        server.command("DEL", f"streamops:roster:{POOL}")
        assert (await decided(controller)).code is ScaleCode.WARMUP
        assert target.asked == []


async def test_a_pool_that_no_supervisor_runs_says_so_and_begins_with_the_first(
    server: RunningServer,
) -> None:
    add_waiting(server)
    async with console_on(server) as console:
        controller = Controller(console, at_least(3))
        told = await decided(controller)
        assert (told.code, told.target) == (ScaleCode.UNREADABLE, 3)
        assert "no supervisor" in told.text
        assert field(server, "desired") == ""
        supervisor = PoolSupervisor(id="s", at=EPOCH, host="h", pid=1, aim=1, alive=1, ready=1)
        await register_supervisor(console.place.server, POOL, supervisor)
        assert (await decided(controller)).outcome is Applied.DONE
        assert field(server, "desired") == "3"
        assert field(server, "target").startswith("streamops run --pool billing")


@pytest.mark.parametrize("where", ["telling", "being asked"])
async def test_a_bug_that_one_pool_meets_stops_no_other(server: RunningServer, where: str) -> None:
    add_waiting(server)
    broken, healthy = Workers(1), Workers(1)

    def stumble(*_: int) -> int:
        return 1 // 0

    if where == "telling":
        broken.on_read = stumble
    else:
        broken.on_resize = stumble
    assignment = at_least(2).assignments[0]
    both = tuple(
        Assignment(pool=name, stream=STREAM, group=GROUP, config=assignment.config)
        for name in (POOL, "healthy")
    )
    async with console_on(server, broken) as console:
        console.place.targets.use("healthy", healthy)
        with capture_logs() as logs:
            told = (await Controller(console, options(assignments=both)).round()).decisions
        assert told[POOL].text == "a bug in streamops: ZeroDivisionError: no change"
        assert told["healthy"].outcome is Applied.DONE
        assert [one["pool"] for one in logs if one["log_level"] == "error"] == [POOL]


# -- what is written down ----------------------------------------------------------------------------


async def test_the_log_holds_news_and_the_pool_all_counts(server: RunningServer) -> None:
    add_waiting(server)
    target = Workers(1)
    async with controlling(server, target, at_least(4)) as controller:
        with capture_logs() as logs:
            decisions = [await decided(controller) for _ in range(8)]
        assert [one.outcome for one in decisions] == [Applied.DONE, *[Applied.KEPT] * 7]
        read = await controller._console.pools.decisions(POOL)
        assert [(one.code, one.outcome) for one in read] == [
            (ScaleCode.NO_RATE, Applied.KEPT),
            (ScaleCode.LIMIT, Applied.DONE),
        ]
        assert [one["event"] for one in logs] == ["lead taken", "decided", "decided"]
        assert logs[1]["why"] == read[1].text
        pool = await controller._console.pools.one(POOL)
        assert pool.decisions == {("up", "limit"): 1, ("hold", "no_rate"): 7}
        assert (pool.stream, pool.group, pool.minimum, pool.maximum) == (STREAM, GROUP, 4, 10)
        assert (field(server, "ordered"), field(server, "ready")) == ("4", "")
        begun = [
            dict(zip(one[1][::2], one[1][1::2], strict=True))
            for one in server.command("XRANGE", AUDIT, "-", "+")
        ]
        assert begun[0][b"reason"].startswith(
            b"limit: first reading; 1 worker until there are two; limited to 4"
        )


async def test_decisions_that_cannot_be_written_down_are_complained_about_once(
    server: RunningServer,
) -> None:
    add_waiting(server)
    server.command("SET", LOG, "no stream")
    async with controlling(server, Workers(1), at_least(2)) as controller:
        with capture_logs() as logs:
            await controller.round()
            server.command("DEL", LOG)
            await controller.round()
        assert [one["event"] for one in logs] == [
            "lead taken",
            "decided",
            "decision cannot be written down",
            "decided",
            "over: decision cannot be written down",
        ]


async def test_a_pool_is_listed_again_where_the_list_was_lost(server: RunningServer) -> None:
    add_waiting(server)
    async with controlling(server, Workers()) as controller:
        await controller.round()
        server.flush()
        for _ in range(KEEP_EVERY):
            await controller.round()
        assert server.command("HGET", "streamops:pools", POOL) == b"controller"


# -- pools that share a budget -----------------------------------------------------------------------


@pytest.mark.parametrize("readable", [True, False])
async def test_workers_that_cannot_be_read_are_in_the_budget(
    server: RunningServer, *, readable: bool
) -> None:
    add_waiting(server)
    blind, seeing = Workers(5), Workers(1)
    assignment = options().assignments[0]
    both = tuple(
        Assignment(pool=name, stream=STREAM, group=GROUP, config=config, budget="b")
        for name, config in ((POOL, assignment.config), ("other", ScalingConfig(minimum=1, maximum=10)))
    )
    async with console_on(server, blind) as console:
        console.place.targets.use("other", seeing)
        controller = Controller(console, options(assignments=both, budgets={"b": 8}))
        await controller.round()
        if not readable:
            server.command("SET", f"streamops:roster:{POOL}", "text")
        server.command("HSET", "streamops:pool:other", "limit_min", 2)
        told = (await controller.round()).decisions
        assert told["other"].target == 2
        assert (told[POOL].code is ScaleCode.UNREADABLE) is not readable
        others = controller._others({} if readable else {POOL: told[POOL]}, {})
        assert others == ({} if readable else {"b": 5})
        await controller.leave()
        assert blind.asked == []


async def test_workers_of_pools_that_another_process_decides_about_are_in_the_budget(
    server: RunningServer,
) -> None:
    add_waiting(server)
    theirs, ours = Workers(6), Workers(1)
    (assignment,) = at_least(4, holder="theirs").assignments
    own = Assignment(pool="ours", stream=STREAM, group=GROUP, config=assignment.config, budget="b")
    async with controlling(server, theirs, options("theirs")) as other, console_on(server) as console:
        await other.round()
        console.place.targets.use("ours", ours)
        given = options(assignments=(own,), budgets={"b": 8}, elsewhere={"b": (POOL, "never heard of")})
        controller = Controller(console, given)
        server.command("HSET", "streamops:pool:ours", "limit_min", 2, "limit_max", 8)
        for _ in range(3):
            await controller.round()
        assert controller._others({}, await controller._look_elsewhere()) == {"b": 6}
        assert ours.count == 2
