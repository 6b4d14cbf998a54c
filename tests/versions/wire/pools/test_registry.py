"""Crews of many pools in one round trip."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.entries import EPOCH
from streamops.model.pools import PoolSupervisor, RegisteredWorker, WorkerState
from streamops.wire.keys import supervisors_key, worker_registry_key
from streamops.wire.pools.registry import PoolRegistry, clock_in, read_registries, register_supervisor
from streamops.wire.reads import read_clock
from streamops.wire.server import Server
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


WORKER = RegisteredWorker(id="w1", at=EPOCH, slots=16, busy=3, worked=1.5, state=WorkerState.RUNNING)
SUPERVISOR = PoolSupervisor(id="s1", at=EPOCH, host="h", pid=1, aim=2, alive=2, ready=1)


async def test_a_roster_tells_workers_and_supervisors(server: RunningServer, connected: Server) -> None:
    await clock_in(connected, "a", WORKER)
    await clock_in(connected, "a", replace(WORKER, id="w0"))
    await register_supervisor(connected, "a", SUPERVISOR)
    server.command("HSET", worker_registry_key("a"), "odd", "nothing that a worker tells")
    server.command("HSET", supervisors_key("a"), "s0", '1 {"id": "s0"}')
    server.command("SET", worker_registry_key("b"), "text")
    now = await read_clock(connected, "a")
    assert now is not None
    crew, denied, nobody = await read_registries(connected, ["a", "b", "c"], now)
    assert isinstance(crew, PoolRegistry)
    assert [(one.id, one.busy) for one in crew.workers] == [("w0", 3), ("w1", 3)]
    assert [(one.id, one.ready) for one in crew.supervisors] == [("s1", 1)]
    assert isinstance(denied, StreamopsError)
    assert "roster of pool b" in denied.message
    assert nobody == PoolRegistry((), ())
    (later,) = await read_registries(connected, ["a"], now + timedelta(minutes=1))
    assert isinstance(later, PoolRegistry)
    assert later.supervisors == ()
    assert await read_registries(connected, [], now) == []
