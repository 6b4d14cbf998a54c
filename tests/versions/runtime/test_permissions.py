"""What ``doctor --acl runtime`` prints is enough for a worker that does everything; with less it does not begin."""

import pytest

from streamops.model.ids import EPOCH
from streamops.model.pools import PoolSupervisor, RosterWorker
from streamops.model.workers import WorkerState
from streamops.wire.pools.records import list_pool
from streamops.wire.pools.roster import clock_in, clock_out, leave_duty, read_roster, report_for_duty
from streamops.wire.server import Server
from tests.support.operate.acting.acl import used_commands
from tests.support.runtime.everything import LETTERS, LOST, STREAM, WORDS, fill, play
from tests.support.runtime.permissions import CONNECTION, NARROW, PRODUCERS, Users, refusal
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("rules and commands differ by version")


async def test_printed_runtime_rules_are_enough_for_a_worker(server: RunningServer, users: Users) -> None:
    fill(server)
    server.command("CONFIG", "RESETSTAT")
    handled = await play(server, users.limited(keys=NARROW))
    assert set(handled) == {*WORDS, "after"}
    assert len(handled) == len(WORDS) + 1
    assert server.command("XLEN", LETTERS) == LOST
    if server.program.version >= (7,):
        # And none of them is there in vain.
        assert {*users.commands} - PRODUCERS - CONNECTION <= used_commands(server) | {"ping"}


async def test_printed_runtime_rules_are_enough_for_supervisors_of_a_pool(
    server: RunningServer, users: Users
) -> None:
    """What supervisors and the roster of their workers need, which no worker is refused for."""
    theirs = Server(users.limited(keys=NARROW))
    supervisor = PoolSupervisor(id="s", at=EPOCH, host="desk", pid=1, aim=1, alive=1, ready=1)
    worker = RosterWorker(id="w", at=EPOCH, slots=4, busy=1, worked=0.5, state=WorkerState.RUNNING)
    server.command("HSET", "streamops:pool:shop", "desired", "3", "mode", "paused")
    # Those that fell silent are dropped, which takes commands of its own.
    server.command("HSET", "streamops:supervisors:shop", "old", "1 {}")
    server.command("HSET", "streamops:roster:shop", "old", "1 4 4 0.0 running")
    try:
        await list_pool(theirs, "shop", "supervisors")
        shift = await report_for_duty(theirs, "shop", supervisor)
        assert (shift.desired, [one.id for one in shift.supervisors]) == (3, ["s"])
        assert await clock_in(theirs, "shop", worker) == "paused"
        until_dropped = 0
        while server.command("HEXISTS", "streamops:roster:shop", "old"):
            await clock_in(theirs, "shop", worker)
            until_dropped += 1
            assert until_dropped < 1_000
        assert [one.id for one in await read_roster(theirs, "shop")] == ["w"]
        await clock_out(theirs, "shop", "w")
        await leave_duty(theirs, "shop", "s")
    finally:
        await theirs.close()
    assert keys(server) == {"streamops:pool:shop", "streamops:pools"}


@pytest.mark.parametrize(
    ("patterns", "missing"),
    [
        (("~{orders}*", "~streamops:*"), "key orders"),
        (("~orders*", "~streamops:*"), "key {orders}:retry:g, key {orders}:dlq"),
        (("~orders*", "~{orders}:[rda]*", "~streamops:*"), "{orders}:payload:"),
        (("~orders*", "~{orders}*"), "key streamops:worker:"),
    ],
)
async def test_whoever_lacks_keys_is_refused(
    server: RunningServer, users: Users, patterns: tuple[str, ...], missing: str
) -> None:
    server.command("XADD", STREAM, "*", "n", "1")
    error = await refusal(users.limited(keys=patterns))
    assert missing in error.message
    assert keys(server) == {STREAM}
