"""Payloads beside a stream: added with their entries or not at all, and fetched by their keys."""

from collections.abc import AsyncIterator

import pytest

from streamops.wire.consuming.payloads import (
    fetch_payloads,
    new_payload,
    publish_with_payload,
)
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.servers import RunningServer
from tests.support.wire.consuming.payloads import HOUR


@pytest.fixture
async def wire(server: RunningServer) -> AsyncIterator[Server]:
    wire = await Server.connect(server.options)
    yield wire
    await wire.close()


async def test_payloads_of_streams_on_all_nodes(cluster: RunningCluster) -> None:
    wire = await Server.connect(cluster.options)
    payloads = [new_payload(f"orders-{number}", str(number).encode(), HOUR) for number in range(20)]
    for number, payload in enumerate(payloads):
        added = await publish_with_payload(wire, f"orders-{number}", payload.reference, payload)
        assert isinstance(added, str)
    found = await fetch_payloads(wire, [payload.key for payload in payloads])
    assert found == [payload.value for payload in payloads]
    await wire.close()
