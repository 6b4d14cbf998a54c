"""Payloads beside a stream: added with their entries or not at all, and fetched by their keys."""

from streamops.wire.consuming.payloads import fetch_payloads, new_payload
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.wire.consuming.payloads import HOUR, publish_with_payload


async def test_payloads_of_streams_on_all_nodes(cluster: RunningCluster) -> None:
    connected = await Server.connect(cluster.options)
    payloads = [new_payload(f"orders-{number}", str(number).encode(), HOUR) for number in range(20)]
    for number, payload in enumerate(payloads):
        added = await publish_with_payload(connected, f"orders-{number}", payload.reference, payload)
        assert isinstance(added, str)
    found = await fetch_payloads(connected, [payload.key for payload in payloads])
    assert found == [payload.value for payload in payloads]
    await connected.close()
