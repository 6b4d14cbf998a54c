"""The part of a worker that moves delayed messages: sleeping, waking, many workers, servers that go away."""

import pytest
from msgspec.structs import replace

from streamops.model.delayed import DelayedBody
from streamops.model.schedules import Backoff
from streamops.runtime import promoter
from streamops.runtime.events import Troubled
from tests.support.deployments import RunningCluster
from tests.support.eventually import eventually
from tests.support.runtime.promoter import NOW, ORDER, RETRY, SOON, listeners, promoting
from tests.support.servers import StartServer


async def test_a_server_that_comes_back_empty(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed, and another one on its socket: neither scripts nor subscriptions are there any more."""
    monkeypatch.setattr(promoter, "BACKOFF", Backoff(0.01, 0.05))
    server, other = start_server(), start_server()
    link = other.directory / "link"
    link.symlink_to(server.socket_path)
    async with promoting(replace(server.options, socket_path=str(link))) as one:
        await one.delay("a", ORDER, NOW)
        await eventually(lambda: one.moved == 1)
        link.unlink()
        server.kill()
        await eventually(lambda: any(isinstance(event, Troubled) for event in one.events))
        link.symlink_to(other.socket_path)
        await eventually(lambda: listeners(other) == 1)
        await one.delay("b", ORDER, NOW)
        await eventually(lambda: one.moved == 2)


async def test_a_pump_of_a_cluster_moves_messages_of_all_slots(cluster: RunningCluster) -> None:
    async with promoting(cluster.options, "orders", "a}b", "payments") as one:
        await eventually(lambda: len(one.promoter._queues) == 2)
        await one.delay("a", ORDER, NOW)
        await one.delay("r", RETRY, SOON)
        await one.delay("p", DelayedBody("payments", ORDER.fields), SOON, "payments")
        await eventually(lambda: one.moved == 3)
    assert cluster.node_of("orders").command("XLEN", "orders") == 1
    assert cluster.node_of(RETRY.destination).command("XLEN", RETRY.destination) == 1
