"""Moments of a failover or a migration, staged one by one: what histories meet by chance only."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from msgspec.structs import replace
from redis.exceptions import TryAgainError

from streamops.errors import Interrupted, Unreachable
from streamops.model.acting import Confirmation, JobState
from streamops.operations.console import Console
from streamops.operations.replay import run as replay
from streamops.operations.replay.intent import ReplayIntent
from streamops.wire import primary as primary_module
from streamops.wire.batches import Request
from streamops.wire.primary import LOOK_EVERY
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from tests.chaos.topologies.reading import read_stream
from tests.chaos.topologies.works import add_many, numbers
from tests.support.deployments import RunningCluster, StartSentinel
from tests.support.eventually import SETTLE_SECONDS
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.sentinel import behind

LETTERS, BATCH = 60, 20
PATIENT = timedelta(seconds=30)
STREAM, QUEUE = "orders", "{orders}:dlq"


def bury(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", STREAM, "g", "$", "MKSTREAM")
    add_many(server, QUEUE, LETTERS, ("_so_origin", STREAM))


async def interrupted(console: Console) -> str:
    """The job of a replay that was stopped after its first batch."""
    stop, jobs = asyncio.Event(), list[str]()
    prepared = await console.prepare(ReplayIntent(queue=QUEUE))
    with pytest.raises(Interrupted):
        await console.apply(prepared, Confirmation(yes=True), lambda _: stop.set(), jobs.append, stop)
    return jobs[0]


async def test_letters_that_came_back_are_replayed_by_whoever_resumes(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a cluster the job may be on another node than its letters, and remember what they do not."""
    monkeypatch.setattr(replay, "BATCH", BATCH)
    bury(server)
    before = {key: server.command("DUMP", key) for key in (STREAM, QUEUE)}
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        job = await interrupted(console)
        assert server.command("XLEN", STREAM) == BATCH
        for key, state in before.items():
            server.command("RESTORE", key, 0, state, "REPLACE")
        outcome = await console.apply(await console.prepare_rest(job), Confirmation(yes=True))
    assert (outcome.applied, server.command("XLEN", QUEUE)) == (LETTERS, 0)
    assert Counter(read_stream(server, STREAM).values("n")) == Counter(numbers(LETTERS))


async def test_a_job_is_let_go_though_the_audit_log_cannot_be_written_any_more(
    cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node of the log may be the one that is gone; nobody is to wait for the lease because of that."""
    monkeypatch.setattr(replay, "BATCH", BATCH)
    bury(cluster.node_of(STREAM))
    log = cluster.node_of(AUDIT)
    stop, jobs = asyncio.Event(), list[str]()

    def after_a_batch(_: object) -> None:
        log.command("DEL", AUDIT)
        log.command("SET", AUDIT, "no stream")
        stop.set()

    async with await Console.open(cluster.options, actor=WORKSHOP) as console:
        prepared = await console.prepare(ReplayIntent(queue=QUEUE))
        with pytest.raises(Interrupted) as stopped:
            await console.apply(prepared, Confirmation(yes=True), after_a_batch, jobs.append, stop)
        assert "the last records could not be written" in str(stopped.value.outcome)
        job = await console.read_job(jobs[0])
    assert (job.state, job.applied) == (JobState.INTERRUPTED, BATCH)


async def test_whoever_was_sent_to_a_slot_on_its_way_goes_on_asking_there(cluster: RunningCluster) -> None:
    """One of two keys has arrived, the other is nowhere: the slot is on its way, and nobody is sent in circles."""
    with cluster.moving(STREAM) as move:
        move.source.command("XADD", STREAM, "*", "n", "1")
        server = await Server.connect(cluster.options)
        move.begin()
        move.carry()
        words = ("EVAL", "return redis.call('XLEN', KEYS[1])", 2, STREAM, QUEUE)
        reply = (await server.batch([Request(STREAM, words)])).replies[0]
        assert isinstance(reply, TryAgainError)
        move.end()
        assert (await server.batch([Request(STREAM, words)])).replies == [1]
        await server.close()


async def test_whoever_is_connected_to_a_former_primary_leaves_it_soon(
    start_server: StartServer, start_sentinel: StartSentinel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes writes until the Sentinels tell it, some ten seconds later, and all of them are lost."""
    monkeypatch.setattr(primary_module, "LET_BE", 3600.0)
    former, primary = start_server(), start_server()
    sentinel = start_sentinel(former)
    server = await Server.connect(replace(behind(sentinel.port), timeout=PATIENT))

    async def add() -> object:
        return await server.single(STREAM, "XADD", STREAM, "*", "n", "1")

    # Two connections, so that one is left over.
    await asyncio.gather(add(), add())
    sentinel.command("SENTINEL", "REMOVE", "orders")
    # Meanwhile they know of none, which is no reason to leave them alone for long.
    await asyncio.sleep(LOOK_EVERY)
    await add()
    sentinel.command("SENTINEL", "MONITOR", "orders", "127.0.0.1", primary.port, 1)

    async def add_until_it_fails() -> None:
        async with asyncio.timeout(SETTLE_SECONDS):
            while True:
                await add()
                await asyncio.sleep(0.05)

    with pytest.raises(Unreachable, match="name another primary") as told:
        await add_until_it_fails()
    assert (told.value.sent, "Check what was applied" in told.value.hint) == (False, True)
    before = former.command("XLEN", STREAM)
    await asyncio.gather(add(), add(), add())
    assert (former.command("XLEN", STREAM), primary.command("XLEN", STREAM)) == (before, 3)
    assert server.changes == 1
    await server.close()


async def test_sentinels_that_are_gone_hold_nobody_up(
    start_server: StartServer, start_sentinel: StartSentinel
) -> None:
    """The primary is well: whoever is connected to it goes on."""
    primary = start_server()
    sentinel = start_sentinel(primary)
    server = await Server.connect(replace(behind(sentinel.port), timeout=PATIENT))
    sentinel.kill()
    began = asyncio.get_running_loop().time()
    count = 0
    while asyncio.get_running_loop().time() < began + 2 * LOOK_EVERY:
        await server.single(STREAM, "XADD", STREAM, "*", "n", "1")
        count += 1
        await asyncio.sleep(0.05)
    assert primary.command("XLEN", STREAM) == count
    await server.close()
