"""The number that lies there for KEDA: never fewer than work, for want of knowledge."""

from datetime import timedelta

import msgspec
import pytest

from streamops.autoscaling.controller import Controller
from streamops.autoscaling.keda.answers import Board, ExternalScalerValue, GroupRead
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import StreamopsError, TargetChanged
from streamops.model.entries import EPOCH
from streamops.model.pools import Applied, PoolDecision, PoolSize, ScaleCode
from tests.support.autoscaling.pools import (
    GROUP,
    KEY,
    LOG,
    POOL,
    STREAM,
    Workers,
    add_waiting,
    console_on,
    controlling,
    options,
)
from tests.support.servers import RunningServer

MINIMUM = 2
(ASSIGNMENT,) = options(config=ScalingConfig(minimum=MINIMUM, maximum=9)).assignments


def decision(code: ScaleCode = ScaleCode.STEADY, **told: object) -> bytes:
    facts = {"ordered": 5, "ready": 5, "target": 7, "outcome": Applied.DONE, **told}
    return msgspec.json.encode(PoolDecision(at=EPOCH, code=code, text="", **facts))  # type: ignore[arg-type] # a test's


async def begins_with(server: RunningServer) -> int:
    async with console_on(server) as console:
        return (await ExternalScalerValue(console.pools, ASSIGNMENT).read()).ordered


@pytest.mark.parametrize(
    ("told", "number"),
    [
        pytest.param(decision(), 7, id="done"),
        pytest.param(decision(target=5, outcome=Applied.KEPT), 5, id="kept"),
        pytest.param(decision(outcome=Applied.FAILED), 5, id="never done"),
        pytest.param(decision(outcome=Applied.ADVISED), 5, id="only advised"),
        pytest.param(decision(ordered=1, target=1), MINIMUM, id="no fewer than the least"),
        pytest.param(decision(ScaleCode.UNREADABLE, ordered=1, target=1), 3, id="one that was not read"),
    ],
)
async def test_the_last_decision_that_rests_on_a_reading(
    server: RunningServer, told: bytes, number: int
) -> None:
    server.command("XADD", LOG, "*", "decision", decision(ordered=3, target=3))
    server.command("XADD", LOG, "*", "decision", told)
    server.command("HSET", KEY, "decision", told)
    assert await begins_with(server) == number


async def test_else_the_workers_that_beat_else_consumers_of_late_else_the_least(
    server: RunningServer,
) -> None:
    assert await begins_with(server) == MINIMUM
    add_waiting(server, entries=9)
    assert await begins_with(server) == MINIMUM
    for number in range(6):
        server.command("XREADGROUP", "GROUP", GROUP, f"c{number}", "COUNT", 1, "STREAMS", STREAM, ">")
    assert await begins_with(server) == 6
    seconds, _ = server.client.time()
    for number in range(4):
        beat = f"{seconds * 1000} 16 4 9.0 running"
        server.command("HSET", f"streamops:roster:{POOL}", f"w{number}", beat)
    assert await begins_with(server) == 4


async def test_consumers_that_have_long_been_silent_are_no_workers(server: RunningServer) -> None:
    add_waiting(server, entries=2)
    server.command("XREADGROUP", "GROUP", GROUP, "c", "COUNT", 1, "STREAMS", STREAM, ">")
    async with console_on(server) as console:
        assert await console.pools.consumers(STREAM, GROUP, timedelta(minutes=5)) == 1
        assert await console.pools.consumers(STREAM, GROUP, timedelta(0)) == 0
        assert await console.pools.consumers(STREAM, "none", timedelta(minutes=5)) == 0
        assert await console.pools.consumers("none", GROUP, timedelta(minutes=5)) == 0


async def test_what_cannot_be_read_is_no_number(server: RunningServer) -> None:
    server.command("SET", LOG, "text")
    async with console_on(server) as console:
        value = ExternalScalerValue(console.pools, ASSIGNMENT)
        with pytest.raises(StreamopsError):
            await value.read()
        server.command("DEL", LOG)
        assert await value.read() == PoolSize(ordered=MINIMUM)
        with pytest.raises(TargetChanged):
            await value.resize(5, PoolSize(ordered=9), reason="", key="")
        await value.resize(5, PoolSize(ordered=MINIMUM), reason="", key="")
        assert await value.read() == PoolSize(ordered=5)


async def test_at_the_very_first_start_a_running_deployment_does_not_shrink(
    server: RunningServer,
) -> None:
    add_waiting(server, entries=9)
    for number in range(6):
        server.command("XREADGROUP", "GROUP", GROUP, f"c{number}", "COUNT", 1, "STREAMS", STREAM, ">")
    async with console_on(server) as console:
        console.place.targets.use(POOL, ExternalScalerValue(console.pools, ASSIGNMENT))
        controller = Controller(console, options(assignments=(ASSIGNMENT,)))
        for _ in range(3):
            decided = (await controller.round()).decisions[POOL]
            assert (decided.target, decided.ready_known) == (6, False)
    assert server.command("HMGET", KEY, "ordered", "ready") == [b"6", b""]


async def test_whoever_waits_tells_the_leader_s_number_as_long_as_that_lives(
    server: RunningServer,
) -> None:
    add_waiting(server)
    board = Board({POOL: GroupRead(STREAM, GROUP)})
    async with (
        controlling(server, Workers(6), options("leader")) as leader,
        console_on(server) as console,
    ):
        await leader.round()
        console.place.targets.use(POOL, ExternalScalerValue(console.pools, ASSIGNMENT))
        waiting = Controller(console, options("waiting"), lambda report: board.post_round(report.newest))
        await waiting.round()
        view = board.view(POOL)
        assert view is not None
        assert (view.desired, view.lag_known) == (6, True)
        await leader.leave()
        report = await waiting.round()
        assert report.decisions[POOL].by == "waiting"
        view = board.view(POOL)
        assert view is not None
        assert view.desired == 6
