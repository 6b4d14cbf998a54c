"""A14: the overload drill, small."""

from datetime import timedelta

from streamops.model.bench import DrillPlan
from streamops.runtime.bench.drill import drill
from streamops.runtime.bench.place import new_tag
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer


async def test_small_drill_accounts_for_every_event(server: RunningServer) -> None:
    plan = DrillPlan(events=100, workers=1, least=timedelta(0), most=timedelta(0), stop_half=False)
    verdict = await drill(server.options, plan, new_tag(), lambda _: None)
    assert verdict.passed
    assert verdict.dead_letters == 1
    assert keys(server) == set()
