"""A server that was closed has no connection left: cancelled while it closes, or closed while it connects."""

import asyncio

import pytest
from msgspec.structs import replace

from streamops.model.streams import Mode
from streamops.wire.options import ConnectionOptions
from tests.support.deployments import Certificates, RunningCluster, StartSentinel
from tests.support.servers import RunningServer
from tests.support.wire.closing import (
    check_closing,
    check_leaving,
)


@pytest.fixture(params=["unix", "tcp"])
def options(request: pytest.FixtureRequest, server: RunningServer) -> ConnectionOptions:
    """How streamops reaches ``server``."""
    return server.options if request.param == "unix" else server.tcp_options


async def test_connections_to_a_cluster_are_closed(cluster: RunningCluster) -> None:
    await asyncio.to_thread(check_leaving, cluster.options)
    await check_closing(cluster.options, *cluster.nodes)


async def test_connections_by_sentinel_are_closed(
    server: RunningServer, start_sentinel: StartSentinel
) -> None:
    sentinel = start_sentinel(server)
    options = ConnectionOptions(
        mode=Mode.SENTINEL,
        addresses=(("127.0.0.1", sentinel.port),),
        sentinel_service="orders",
        label="redis+sentinel://127.0.0.1/orders",
    )
    await asyncio.to_thread(check_leaving, options)
    await check_closing(options, server, sentinel)


async def test_connections_by_tls_are_closed(tls_server: RunningServer, certificates: Certificates) -> None:
    options = replace(
        ConnectionOptions(addresses=(("localhost", tls_server.port),), label="rediss://localhost/0"),
        tls=certificates.client_tls,
    )
    await check_closing(options, tls_server)
