"""What ``doctor --acl runtime`` prints is enough for a worker that does everything; with less it does not begin."""

import pytest
import redis

from streamops.errors import Refused
from streamops.model.entries import EPOCH
from streamops.model.observation import Health
from streamops.model.pools import PoolSupervisor, RegisteredWorker, WorkerState
from streamops.monitor.doctor import examine
from streamops.wire.pools.records import list_pool
from streamops.wire.pools.registry import (
    clock_in,
    clock_out,
    read_registered,
    register_supervisor,
    unregister_supervisor,
)
from streamops.wire.server import Server
from tests.support.monitor.doctor import by_topic
from tests.support.operations.engine.acl import used_commands
from tests.support.runtime.everything import LETTERS, LOST, STREAM, WORDS, add_leftovers, play
from tests.support.runtime.permissions import CONNECTION, PASSWORD, PRODUCERS, USER, Users, refusal
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer

pytestmark = pytest.mark.border_servers("rules and commands differ by version")


async def test_printed_runtime_rules_are_enough_for_a_worker(server: RunningServer, users: Users) -> None:
    add_leftovers(server)
    server.command("CONFIG", "RESETSTAT")
    handled = await play(server, users.limited())
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
    theirs = Server(users.limited())
    supervisor = PoolSupervisor(id="s", at=EPOCH, host="desk", pid=1, aim=1, alive=1, ready=1)
    worker = RegisteredWorker(id="w", at=EPOCH, slots=4, busy=1, worked=0.5, state=WorkerState.RUNNING)
    server.command("HSET", "streamops:pool:shop", "desired", "3", "mode", "paused")
    # Those that fell silent are dropped, which takes commands of its own.
    server.command("HSET", "streamops:supervisors:shop", "old", "1 {}")
    server.command("HSET", "streamops:roster:shop", "old", "1 4 4 0.0 running")
    try:
        with pytest.raises(Refused):
            await list_pool(theirs, "shop", "supervisors")
        shift = await register_supervisor(theirs, "shop", supervisor)
        assert (shift.desired, [one.id for one in shift.supervisors]) == (3, ["s"])
        assert await clock_in(theirs, "shop", worker) == "paused"
        until_dropped = 0
        while server.command("HEXISTS", "streamops:roster:shop", "old"):
            await clock_in(theirs, "shop", worker)
            until_dropped += 1
            assert until_dropped < 1_000
        assert [one.id for one in await read_registered(theirs, "shop")] == ["w"]
        await clock_out(theirs, "shop", "w")
        await unregister_supervisor(theirs, "shop", "s")
    finally:
        await theirs.close()
    assert keys(server) == {"streamops:pool:shop"}


@pytest.mark.parametrize(
    "key",
    [
        *("streamops:audit", "streamops:topics", "streamops:jobs", "streamops:job:1", "streamops:pools"),
        *("streamops:pool:shop", "streamops:decisions:shop", "streamops:learned:shop"),
    ],
)
def test_a_worker_writes_nothing_that_is_operators_alone(
    server: RunningServer, users: Users, key: str
) -> None:
    if server.program.version < (7,) and key.startswith("streamops:pool:"):
        pytest.skip("Redis 6.2 knows no keys that may only be read")
    users.limited()
    server.command("XADD", key, "*", "a", "b")
    worker = server.connect(username=USER, password=PASSWORD.reveal())
    for command in (("SET", key, "v"), ("DEL", key), ("XADD", key, "*", "a", "b"), ("HSET", key, "a", "b")):
        with pytest.raises(redis.exceptions.NoPermissionError):
            worker.execute_command(*command)  # type: ignore[no-untyped-call]
    with pytest.raises(redis.RedisError, match=r"(?i)permission|ACL"):
        worker.eval("return redis.call('DEL', KEYS[1])", 1, key)
    assert server.command("XLEN", key) == 1


async def test_doctor_finds_nothing_too_much_with_the_printed_rules(users: Users) -> None:
    found = by_topic(await examine(users.limited(), works=True))["worker's rights"]
    assert found.health is Health.OK
    assert "may write none of the keys that are operators' alone" in found.text


@pytest.mark.parametrize(
    ("changes", "much"),
    [
        (("~streamops:*",), "write streamops:audit, write streamops:topics, write streamops:jobs, write"),
        (("~streamops:a*",), "may write streamops:audit: no worker needs that"),
        (("~*", "+acl|dryrun", "+flushall"), "write streamops:audit"),
    ],
)
async def test_doctor_names_what_is_too_much_for_a_worker(
    server: RunningServer, users: Users, changes: tuple[str, ...], much: str
) -> None:
    if server.program.version < (7,):
        changes = tuple(change for change in changes if change != "+acl|dryrun")
    before = keys(server)
    found = by_topic(await examine(users.limited(*changes), works=True))["worker's rights"]
    assert (found.health, found.advice.count("doctor --acl runtime")) == (Health.WARN, 1)
    assert much in found.text
    assert ("run FLUSHALL" in found.text) == ("+acl|dryrun" in changes)
    assert keys(server) == before


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
