"""A server that cannot be reached, or turns us away, is told of in one line, in time and without secrets."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import ServerError, Unreachable
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.programs import newest_program
from tests.support.servers import StartServer
from tests.support.wire.refusals import PLANTED, check_no_secret, with_password


async def test_member_of_a_cluster_asked_alone(cluster: RunningCluster) -> None:
    """It serves what it has; the rest is said to be elsewhere, at once and not after a chase."""
    names = [f"orders:{number}" for number in range(12)]
    for name in names:
        cluster.node_of(name).command("XADD", name, "*", "f", "v")
    member = cluster.nodes[0]
    async with await Console.open(member.options, Watch(tuple(names))) as console:
        snapshot = await console.collect()
    here = {name for name in names if cluster.node_of(name) is member}
    assert {stream.name for stream in snapshot.streams} == here
    assert {gap.stream for gap in snapshot.gaps} == set(names) - here
    assert {gap.reason for gap in snapshot.gaps} == {"served by another node of the cluster"}


async def test_failure_long_after_connecting_is_as_clean(start_server: StartServer) -> None:
    server = start_server("--requirepass", PLANTED, program=newest_program())
    connected = await Server.connect(with_password(replace(server.tcp_options, timeout=timedelta(seconds=1))))
    server.pause()
    with pytest.raises(ServerError) as hung:
        await connected.ping()
    server.kill()
    with pytest.raises(ServerError) as dead:
        await connected.ping()
    await connected.close()
    for caught in (hung, dead):
        assert isinstance(caught.value, Unreachable)
        check_no_secret(caught.value)
