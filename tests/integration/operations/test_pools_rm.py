"""Forgetting pools, on real servers: only their own keys go, nothing of them lives, and a file tells what they were."""

import json
from pathlib import Path

import pytest

from streamops.errors import Forbidden, NotFound, StalePlan
from streamops.model.entries import EPOCH
from streamops.model.pools import PoolSupervisor
from streamops.operations.console import Console
from streamops.operations.pools_rm.intent import RemovePoolIntent
from streamops.wire.pools.registry import register_supervisor
from tests.integration.cli.test_golden_workers import heartbeat
from tests.support.operations.doing import applied, done, planned
from tests.support.servers import RunningServer
from tests.support.written_pools import LONG_AGO, UP, write_pool

REMOVE = RemovePoolIntent(pool="billing")
KEYS = ("streamops:decisions:billing", "streamops:pool:billing", "streamops:roster:billing")


@pytest.fixture
def left(server: RunningServer) -> RunningServer:
    """Two pools whose controllers are gone, one with a worker long gone on its roster; and somebody's stream."""
    for name in ("billing", "mail"):
        write_pool(server, name, UP, leader_until=LONG_AGO)
    server.command("HSET", "streamops:roster:billing", "w1", f"{LONG_AGO} 16 0 9.0 running")
    server.command("XADD", "orders", "*", "n", "1")
    return server


def keys(server: RunningServer) -> set[str]:
    return {key.decode() for key in server.command("KEYS", "*")} - {"streamops:audit"}


async def test_a_pool_is_forgotten_and_a_file_tells_what_it_was(
    left: RunningServer, console: Console, tmp_path: Path
) -> None:
    backup = tmp_path / "billing.jsonl"
    intent = RemovePoolIntent(pool="billing", backup=str(backup))
    before = keys(left)
    plan = await planned(console, intent)
    assert (plan.count, set(plan.sample)) == (3, set(KEYS))
    assert keys(left) == before
    outcome = await done(console, intent)
    assert (outcome.applied, keys(left)) == (3, before - set(KEYS))
    assert left.command("HKEYS", "streamops:pools") == [b"mail"]
    told, decision = map(json.loads, backup.read_text().splitlines())
    assert (told["pool"], told["told"]["min"]) == ("billing", "1")
    assert decision["stream"] == "streamops:decisions:billing"
    with pytest.raises(NotFound, match="no pool billing"):
        await planned(console, REMOVE)


@pytest.mark.parametrize("who", ["controller", "supervisor", "worker", "worker with a roster"])
async def test_a_pool_that_is_in_use_is_not_forgotten(
    left: RunningServer, console: Console, who: str
) -> None:
    now = left.client.time()[0] * 1000
    if who == "controller":
        left.command("HSET", "streamops:pool:billing", "leader_until", now + 60_000)
    elif who == "supervisor":
        one = PoolSupervisor(id="s", at=EPOCH, host="desk", pid=1, aim=1, alive=1, ready=1)
        await register_supervisor(console.place.server, "billing", one)
    elif who == "worker":
        heartbeat(left, "so-1", pool="billing")
    else:
        left.command("HSET", "streamops:roster:billing", "w2", f"{now} 16 0 9.0 running")
    before = keys(left)
    with pytest.raises(Forbidden, match=f"in use: {who.split(maxsplit=1)[0]}"):
        await done(console, REMOVE)
    assert keys(left) == before


@pytest.mark.parametrize("field", ["mode", "leader", "min"])
async def test_a_pool_that_was_told_something_meanwhile_is_left(
    left: RunningServer, console: Console, tmp_path: Path, field: str
) -> None:
    backup = tmp_path / "billing.jsonl"
    prepared = await console.prepare(RemovePoolIntent(pool="billing", backup=str(backup)))
    left.command("HSET", "streamops:pool:billing", field, "9")
    before = keys(left)
    with pytest.raises(StalePlan):
        await applied(console, prepared)
    assert keys(left) == before
    assert not backup.exists()
