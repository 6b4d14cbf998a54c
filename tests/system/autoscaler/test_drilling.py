"""A14 on a pool that grows and shrinks by itself: a burst, half the workers killed, real supervisor and controller."""

from datetime import timedelta

from streamops.autoscaler.drilling import DecisionLog, hiring_by_policy
from streamops.model.bench import DrillMoment, DrillPlan
from streamops.model.pools import Applied
from streamops.model.scaling import ScaleCode
from streamops.operate.console import Console
from streamops.runtime.bench.drill import drill
from streamops.runtime.bench.place import new_tag
from streamops.scaling.config import ScalingConfig
from streamops.scaling.tuning import Tuning
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer

HASTY = Tuning(cooldown=4.0, look_back=6.0, least_look=3.0, half_life=1.0, pressed_for=60.0)
CONFIG = ScalingConfig(
    minimum=1, maximum=4, objective=timedelta(seconds=4), start_up=timedelta(seconds=2), tuning=HASTY
)
PLAN = DrillPlan(
    events=4_000,
    slots=16,
    workers=4,
    least=timedelta(milliseconds=20),
    most=timedelta(milliseconds=40),
    rest_at=1,
)
POOL = "drill"


async def test_a14_the_pool_grows_survives_drains_and_shrinks(server: RunningServer) -> None:
    moments: list[DrillMoment] = []
    log = DecisionLog(POOL)
    async with await Console.open(server.options) as console:
        hire = hiring_by_policy(console, POOL, CONFIG, log, timedelta(seconds=1))
        verdict = await drill(server.options, PLAN, new_tag(), moments.append, hire)
        await console.pools.forget(POOL)
    assert verdict.passed
    assert verdict.killed >= 1
    assert (verdict.most, verdict.rested) == (4, 1)
    assert [one.code for one in log.decisions if one.outcome is Applied.DONE and one.target > 1][:1] == [
        ScaleCode.BACKLOG
    ]
    down = [one for one in log.decisions if one.direction == "down" and one.outcome is Applied.DONE]
    assert {one.code for one in down} <= {ScaleCode.IDLE, ScaleCode.SAWTOOTH}
    assert down[-1].target == 1
    assert keys(server) == {"streamops:audit"}
