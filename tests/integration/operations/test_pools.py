"""Pausing and resuming the workers of a pool, with a real worker of it."""

import pytest
from msgspec.structs import replace

from streamops.errors import NotFound, StalePlan
from streamops.model.acting import Confirmation
from streamops.model.pools import WorkerState
from streamops.operations.console import Console
from streamops.operations.pools.intent import PauseIntent, ResumeIntent
from streamops.runtime import Entry, Streamops, WorkerOptions
from tests.integration.cli.test_golden_workers import heartbeat
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.runtime.working import QUICK, is_idle, until, working
from tests.support.servers import RunningServer

POOL = "streamops:pool:billing"
OPTIONS: WorkerOptions = replace(QUICK, pool="billing", app="shop:app")
PAUSE, RESUME = PauseIntent(pool="billing"), ResumeIntent(pool="billing")


async def act(console: Console, intent: PauseIntent | ResumeIntent) -> int:
    prepared = await console.prepare(intent)
    return (await console.apply(prepared, Confirmation(yes=True))).applied


@pytest.fixture
def staffed(server: RunningServer) -> RunningServer:
    """A server on which the pool has a worker."""
    heartbeat(server, "so-1", pool="billing")
    return server


async def test_workers_rest_until_they_are_resumed(server: RunningServer) -> None:
    app, handled = Streamops(server.options), list[str]()

    @app.handler("orders", group="g", start="0")
    async def handle(entry: Entry) -> None:
        handled.append(entry.id)

    async with await Console.open(server.options, actor=WORKSHOP) as console, working(app, OPTIONS) as worker:
        server.command("XADD", "orders", "*", "n", "1")
        await until(lambda: handled)
        assert await act(console, PAUSE) == 1
        await until(lambda: worker.state is WorkerState.PAUSED)
        # One read may have been under way.
        server.command("XADD", "orders", "*", "n", "2")
        await until(lambda: b"paused" in server.command("HGETALL", f"streamops:worker:{worker.id}"))
        crowd = await console.workers.all()
        (heart,) = crowd.workers
        assert (heart.id, heart.pool, heart.app, heart.state) == (
            worker.id,
            "billing",
            "shop:app",
            WorkerState.PAUSED,
        )
        assert crowd.now is not None
        assert await act(console, RESUME) == 1
        await until(lambda: len(handled) == 2)
        await until(lambda: is_idle(server, "orders"))
    told = dict(zip(*(iter(server.command("HGETALL", POOL)),) * 2, strict=True))
    assert told[b"mode"] == b"running"
    assert told[b"updated_by"] == str(WORKSHOP).encode()
    assert told[b"reason"] == b"resumed by an operator"
    assert int(told[b"updated_at"]) > 0


async def test_twice_changes_nothing_and_is_no_error(staffed: RunningServer) -> None:
    async with await Console.open(staffed.options, actor=WORKSHOP) as console:
        assert await act(console, RESUME) == 0
        assert staffed.command("EXISTS", POOL) == 0
        assert [await act(console, PAUSE) for _ in range(2)] == [1, 0]


async def test_what_others_said_meanwhile_is_not_overruled(staffed: RunningServer) -> None:
    async with await Console.open(staffed.options, actor=WORKSHOP) as console:
        prepared = await console.prepare(PAUSE)
        staffed.command("HSET", POOL, "mode", "drained")
        with pytest.raises(StalePlan):
            await console.apply(prepared, Confirmation(yes=True))
    assert staffed.command("HGETALL", POOL) == [b"mode", b"drained"]


async def test_a_key_that_is_no_pool_is_told(server: RunningServer) -> None:
    server.command("SET", POOL, "x")
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        with pytest.raises(NotFound):
            await console.prepare(PAUSE)


async def test_hearts_that_are_none_are_left_out(server: RunningServer) -> None:
    server.command("HSET", "streamops:worker:a", "v", "1")
    server.command("SET", "streamops:worker:b", "x")
    async with await Console.open(server.options) as console:
        assert (await console.workers.all()).workers == ()
