"""A script reaches every key, whatever its server has seen of it before."""

from collections.abc import AsyncIterator

import pytest

from streamops.model.server import Mode
from streamops.wire.script_calls import Call, run_script
from streamops.wire.scripts import load_script
from streamops.wire.server import Server
from tests.deployments import RunningCluster
from tests.servers import RunningServer
from tests.wire.conftest import SetUser


def counting(key: str) -> Call:
    return Call(key, ("0-0", "+", 10, 1000, 10), lambda reply: ("counted", reply[0]))


def read_only(server: RunningServer) -> bool:
    return server.label != "redis-6.2"


@pytest.fixture
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


async def test_source_is_sent_once(server: RunningServer, connected: Server) -> None:
    for number in range(3):
        for _ in range(number):
            server.command("XADD", f"s{number}", "*", "f", "v")
    calls = [counting(f"s{number}") for number in range(3)]
    for _ in range(2):
        server.command("SCRIPT", "FLUSH")
        server.command("CONFIG", "RESETSTAT")
        answers = await run_script(connected, "count_range", calls, read_only=read_only(server))
        assert answers.replies == [("counted", 0), ("counted", 1), ("counted", 2)]
        statistics = server.client.info("commandstats")
        suffix = "_ro" if read_only(server) else ""
        assert statistics[f"cmdstat_eval{suffix}"]["calls"] == 1
        assert statistics[f"cmdstat_evalsha{suffix}"]["calls"] == 2


async def test_first_key_is_denied(server: RunningServer, as_user: SetUser) -> None:
    """The call that brings the source is refused before the server has looked at it."""
    server.command("SCRIPT", "FLUSH")
    server.command("XADD", "mine", "*", "f", "v")
    connection = await Server.connect(as_user("~mine", "+@all"))
    calls = [counting(key) for key in ("denied", "mine", "mine")]
    replies = (await run_script(connection, "count_range", calls, read_only=read_only(server))).replies
    await connection.close()
    assert isinstance(replies[0], Exception)
    assert replies[1:] == [("counted", 1)] * 2


async def test_key_that_moved_to_a_server_without_the_script(cluster: RunningCluster) -> None:
    """One node alone is asked, and sends the key to another, which has not seen the source."""
    keys = [f"s{number}" for number in range(12)]
    for key in keys:
        cluster.node_of(key).command("XADD", key, "*", "f", "v")
    for node in cluster.nodes:
        node.command("SCRIPT", "FLUSH")
    connection = await Server.connect(cluster.options)
    topology = connection._topology
    everything_here = topology.node_of(keys[0])
    assert connection.options.mode is Mode.CLUSTER
    topology.node_of = lambda _key: everything_here  # type: ignore[method-assign,assignment]  # a map that is out of date
    replies = (
        await run_script(connection, "count_range", [counting(key) for key in keys], read_only=True)
    ).replies
    await connection.close()
    assert replies == [("counted", 1)] * len(keys)


def test_comments_are_not_sent() -> None:
    for name in ("count_range", "read_stream"):
        script = load_script(name)
        assert "--" not in script.source
        assert "redis." in script.source
        assert len(script.sha) == 40
