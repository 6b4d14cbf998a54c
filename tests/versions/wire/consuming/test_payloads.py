"""Payloads beside a stream: added with their entries or not at all, and fetched by their keys."""

import pytest

from streamops.wire.consuming.payloads import fetch_payloads
from streamops.wire.script_calls import MOST_PARTS
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.consuming.payloads import PAYLOAD, publish_with_payload

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_entry_and_payload_come_together(server: RunningServer, connected: Server) -> None:
    parts = [b"n", b"1", b"n", b"2", *PAYLOAD.reference]
    entry_id = await publish_with_payload(connected, "orders", parts, PAYLOAD)
    assert isinstance(entry_id, str)
    assert server.command("XRANGE", "orders", "-", "+") == [[entry_id.encode(), parts]]
    assert server.command("GET", PAYLOAD.key) == PAYLOAD.value
    assert 0 < server.command("PTTL", PAYLOAD.key) <= 3_600_000
    assert await fetch_payloads(connected, [PAYLOAD.key, "{orders}:payload:gone"]) == [PAYLOAD.value, None]


async def test_as_many_fields_as_a_script_can_add(server: RunningServer, connected: Server) -> None:
    parts = [b"n"] * (MOST_PARTS - 2) + list(PAYLOAD.reference)
    assert isinstance(await publish_with_payload(connected, "orders", parts, PAYLOAD), str)
    assert len(server.command("XRANGE", "orders", "-", "+")[0][1]) == MOST_PARTS
