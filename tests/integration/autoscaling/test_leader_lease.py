"""Who leads a pool: one at a time, whoever comes next goes on with what was learned."""

import asyncio

from structlog.testing import capture_logs

from streamops.autoscaling.controller import KEEP_EVERY, Controller
from streamops.model.pools import Applied, ScaleCode
from tests.support.autoscaling.controller import age, decided
from tests.support.autoscaling.pools import (
    AUDIT,
    POOL,
    QUICK,
    Workers,
    add_waiting,
    at_least,
    console_on,
    controlling,
    field,
    options,
)
from tests.support.eventually import eventually
from tests.support.servers import RunningServer


async def test_the_second_waits_and_takes_over_at_once_when_the_first_leaves(
    server: RunningServer,
) -> None:
    add_waiting(server)
    target = Workers()
    async with (
        controlling(server, target, options("first")) as first,
        controlling(server, target, options("second")) as second,
    ):
        await first.round()
        report = await second.round()
        assert report.decisions == {}
        lead = report.waiting[POOL].lead
        assert lead is not None
        assert lead.holder == "first"
        assert report.newest[POOL].by == "first"
        await first.leave()
        assert (await decided(second)).by == "second"
        assert (await first.round()).decisions == {}
        assert field(server, "term") == "2"


async def test_a_lease_that_ran_out_is_another_s_and_the_old_one_notices(server: RunningServer) -> None:
    add_waiting(server)
    target = Workers()
    async with (
        controlling(server, target, at_least(5, holder="first")) as first,
        controlling(server, target, options("second")) as second,
    ):
        await first.round()
        age(server)
        assert (await decided(second)).by == "second"
        target.count = 1
        with capture_logs() as logs:
            assert (await first.round()).decisions == {}
            await first.round()
        assert [one["event"] for one in logs] == ["lead lost"]
        assert target.count == 1


async def test_who_only_advises_makes_way_and_never_asks(server: RunningServer) -> None:
    add_waiting(server)
    target = Workers(1)
    async with (
        controlling(server, target, at_least(4, holder="adviser", advise=True)) as adviser,
        controlling(server, target, at_least(4, holder="actor")) as actor,
    ):
        advised = [await decided(adviser) for _ in range(3)]
        assert {(one.outcome, one.target) for one in advised} == {(Applied.ADVISED, 4)}
        assert target.asked == []
        assert server.command("EXISTS", AUDIT) == 0
        done = await decided(actor)
        assert (done.outcome, target.count) == (Applied.DONE, 4)
        assert (await adviser.round()).waiting[POOL].lead is not None
        await actor.leave()
        assert (await decided(adviser)).by == "adviser"


async def test_what_was_learned_is_taken_over(server: RunningServer) -> None:
    add_waiting(server)
    async with controlling(server, Workers(), options("first")) as first:
        for _ in range(KEEP_EVERY):
            await first.round()
        assert 0 < server.command("PTTL", f"streamops:learned:{POOL}") <= 3_600_000
        (led,) = first._pools
        led.state = type(led.state)(rates=(50.0,), start_up=7.0, samples=led.state.samples)
        await first.leave()
    async with controlling(server, Workers(), options("second")) as second:
        assert (await decided(second)).code is ScaleCode.WARMUP
        (heir,) = second._pools
        assert (heir.state.rates, heir.state.start_up) == ((50.0,), 7.0)


async def test_a_memory_of_another_version_is_left_alone(server: RunningServer) -> None:
    add_waiting(server)
    server.command("SET", f"streamops:learned:{POOL}", b"\xc1nothing that was packed")
    async with controlling(server, Workers()) as controller:
        assert (await decided(controller)).code is ScaleCode.WARMUP


async def test_a_target_that_takes_longer_than_the_lease_costs_no_lead(server: RunningServer) -> None:
    add_waiting(server)
    slow, quick = Workers(1), Workers(1)
    slow.on_resize = lambda _: asyncio.Event().wait()
    given = at_least(4, holder="first", every=QUICK, lease=3 * QUICK)
    async with (
        console_on(server, slow) as console,
        controlling(server, quick, at_least(2, holder="second")) as second,
    ):
        running = asyncio.create_task(Controller(console, given).run())
        await eventually(lambda: bool(slow.asked))
        for _ in range(5):
            confirmed = field(server, "leader_until")
            await eventually(lambda confirmed=confirmed: field(server, "leader_until") != confirmed)  # type: ignore[misc]
            assert (await second.round()).decisions == {}
        running.cancel()
        await asyncio.wait({running})
        assert quick.asked == []
        assert (await decided(second)).by == "second"
