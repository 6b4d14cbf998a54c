"""A14: the overload drill, small."""

import asyncio
from datetime import timedelta

import pytest

from streamops.model.bench import DrillMoment, DrillPlan
from streamops.runtime.bench.drill import drill
from streamops.runtime.bench.place import new_tag
from tests.support.runtime.working import keys, until
from tests.support.servers import RunningServer

SMALL = DrillPlan(
    events=2_000,
    slots=16,
    workers=2,
    least=timedelta(milliseconds=5),
    most=timedelta(milliseconds=10),
    errors=2.0,
)


async def test_a14_every_event_of_an_overload_is_accounted_for(server: RunningServer) -> None:
    """Lag rises and falls to zero, half the workers are killed and return, errors fill the dead-letter queue."""
    moments: list[DrillMoment] = []
    verdict = await drill(server.options, SMALL, new_tag(), moments.append)
    assert verdict.passed
    assert (verdict.handled, verdict.dead_letters) == (1_960, 40)
    assert (verdict.killed, verdict.returned) == (1, 1)
    lags = [moment.lag for moment in moments]
    assert (lags[0], lags[-1]) == (0, 0)
    assert max(lags) > 500
    assert [moment.note for moment in moments if moment.note] == ["1 killed", "1 returned"]
    assert [moment.dead_letters for moment in moments] == sorted(moment.dead_letters for moment in moments)
    assert moments[-1].dead_letters == 40
    assert keys(server) == set()


async def test_small_drill_accounts_for_every_event(server: RunningServer) -> None:
    plan = DrillPlan(events=100, workers=1, least=timedelta(0), most=timedelta(0), stop_half=False)
    verdict = await drill(server.options, plan, new_tag(), lambda _: None)
    assert verdict.passed
    assert verdict.dead_letters == 1
    assert keys(server) == set()


async def test_whoever_cancels_a_drill_finds_nothing_left(server: RunningServer) -> None:
    task = asyncio.create_task(drill(server.options, DrillPlan(), new_tag(), lambda _: None))
    await until(lambda: any(key.endswith(":handled") for key in keys(server)))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert keys(server) == set()
