"""A14: the overload drill, small."""

import asyncio
from datetime import timedelta

import pytest

from streamops.model.drill import DrillPlan, DrillProgress
from streamops.runtime.drill import drill, new_tag
from tests.support.runtime.working import keys, until
from tests.support.servers import RunningServer

SMALL = DrillPlan(
    events=2_000,
    slots=16,
    least=timedelta(milliseconds=5),
    most=timedelta(milliseconds=10),
    errors=2.0,
)


async def test_a14_every_event_of_an_overload_is_accounted_for(server: RunningServer) -> None:
    """Lag rises and falls to zero, half the workers are killed, errors fill the dead-letter queue."""
    moments: list[DrillProgress] = []
    verdict = await drill(server.options, SMALL, new_tag(), moments.append)
    assert verdict.passes(SMALL)
    assert (verdict.handled, verdict.dead_letters, verdict.killed) == (1_960, 40, 1)
    lags = [moment.lag for moment in moments]
    assert (lags[0], lags[-1]) == (0, 0)
    assert max(lags) > 500
    assert [moment.note for moment in moments if moment.note] == ["1 killed"]
    assert [moment.dead_letters for moment in moments] == sorted(moment.dead_letters for moment in moments)
    assert moments[-1].dead_letters == 40
    assert keys(server) == set()


async def test_drill_whose_only_worker_is_killed_accounts_for_every_event(server: RunningServer) -> None:
    plan = DrillPlan(events=100, minimum=1, maximum=1, least=timedelta(0), most=timedelta(0))
    verdict = await drill(server.options, plan, new_tag(), lambda _: None)
    assert verdict.passes(plan)
    assert verdict.dead_letters == 1
    assert keys(server) == set()


async def test_cancelled_drill_leaves_nothing(server: RunningServer) -> None:
    task = asyncio.create_task(drill(server.options, DrillPlan(), new_tag(), lambda _: None))
    await until(lambda: any(key.endswith(":handled") for key in keys(server)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert keys(server) == set()
