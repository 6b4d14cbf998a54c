"""A14 on a pool that grows and shrinks by itself: a burst, half the workers killed, real supervisor and controller."""

from datetime import timedelta

from streamops.autoscaling.controller import Controller, RoundReport
from streamops.autoscaling.decisions import Assignment, ControllerOptions
from streamops.autoscaling.policy.config import ScalingConfig, Tuning
from streamops.model.drill import DrillPlan
from streamops.model.pools import Applied, PoolDecision, ScaleCode
from streamops.operations.console import Console
from streamops.runtime.drill import DrillKeys, drill, new_tag
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer

HASTY = Tuning(cooldown=4.0, look_back=6.0, least_look=3.0, half_life=1.0, pressed_for=60.0)
CONFIG = ScalingConfig(
    minimum=1, maximum=4, objective=timedelta(seconds=4), start_up=timedelta(seconds=2), tuning=HASTY
)
PLAN = DrillPlan(
    events=4_000,
    slots=16,
    minimum=1,
    maximum=4,
    least=timedelta(milliseconds=20),
    most=timedelta(milliseconds=40),
)


async def test_a14_the_pool_grows_survives_drains_and_shrinks(server: RunningServer) -> None:
    decisions: list[PoolDecision] = []

    def take(report: RoundReport) -> None:
        decisions.extend(report.decisions.values())

    async with await Console.open(server.options) as console:

        async def control(drilled: DrillKeys) -> None:
            sub = drilled.sub
            one = Assignment(pool=drilled.pool, stream=sub.stream, group=sub.group, config=CONFIG)
            options = ControllerOptions(holder="drill", assignments=(one,), every=timedelta(seconds=1))
            await Controller(console, options, take).run()

        tag = new_tag()
        verdict = await drill(server.options, PLAN, tag, lambda _: None, control)
        await console.pools.forget(DrillKeys(tag).pool)
    assert verdict.passes(PLAN)
    assert verdict.killed >= 1
    assert (verdict.most_workers, verdict.last_workers) == (4, 1)
    assert [one.code for one in decisions if one.outcome is Applied.DONE and one.target > 1][:1] == [
        ScaleCode.BACKLOG
    ]
    down = [one for one in decisions if one.direction == "down" and one.outcome is Applied.DONE]
    assert {one.code for one in down} <= {ScaleCode.IDLE, ScaleCode.SAWTOOTH}
    assert down[-1].target == 1
    assert keys(server) == {"streamops:audit"}
