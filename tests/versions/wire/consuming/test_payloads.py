"""Payloads beside a stream: added with their entries or not at all, and fetched by their keys."""

from collections.abc import AsyncIterator

import pytest

from streamops.wire.consuming.payloads import (
    AT_ONCE,
    MOST_PARTS,
    Payload,
    fetch_payloads,
    keep_payload,
    new_payload,
    publish_with_payload,
)
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.server import Server
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.consuming.payloads import HOUR

pytestmark = pytest.mark.every_server("replies and scripts differ by version")

PAYLOAD = Payload("{orders}:payload:1", b"\x00\xff" * 50_000, HOUR)


@pytest.fixture
async def wire(server: RunningServer) -> AsyncIterator[Server]:
    wire = await Server.connect(server.options)
    yield wire
    await wire.close()


async def test_entry_and_payload_come_together(server: RunningServer, wire: Server) -> None:
    parts = [b"n", b"1", b"n", b"2", *PAYLOAD.reference]
    entry_id = await publish_with_payload(wire, "orders", parts, PAYLOAD)
    assert isinstance(entry_id, str)
    assert server.command("XRANGE", "orders", "-", "+") == [[entry_id.encode(), parts]]
    assert server.command("GET", PAYLOAD.key) == PAYLOAD.value
    assert 0 < server.command("PTTL", PAYLOAD.key) <= 3_600_000
    assert await fetch_payloads(wire, [PAYLOAD.key, "{orders}:payload:gone"]) == [PAYLOAD.value, None]


async def test_no_payload_is_left_behind(server: RunningServer, wire: Server) -> None:
    """Of an entry that cannot be added: its ID is taken, or the key is no stream."""
    server.command("XADD", "orders", "5-0", "n", "1")
    refused = await publish_with_payload(wire, "orders", PAYLOAD.reference, PAYLOAD, entry_id="5-0")
    assert isinstance(refused, Fault)
    assert "equal or smaller" in refused.reason
    server.command("SET", "text", "v")
    payload = new_payload("text", b"x", HOUR)
    wrong = await publish_with_payload(wire, "text", payload.reference, payload)
    assert isinstance(wrong, Fault)
    assert wrong.kind is FaultKind.WRONG_TYPE
    assert sorted(server.command("KEYS", "*")) == [b"orders", b"text"]


async def test_a_payload_is_never_replaced(server: RunningServer, wire: Server) -> None:
    server.command("SET", PAYLOAD.key, "somebody's")
    refused = await publish_with_payload(wire, "orders", PAYLOAD.reference, PAYLOAD)
    assert isinstance(refused, Fault)
    assert "already" in refused.reason
    assert server.command("GET", PAYLOAD.key) == b"somebody's"
    assert server.command("EXISTS", "orders") == 0


async def test_as_many_fields_as_a_script_can_add(server: RunningServer, wire: Server) -> None:
    parts = [b"n"] * (MOST_PARTS - 2) + list(PAYLOAD.reference)
    assert isinstance(await publish_with_payload(wire, "orders", parts, PAYLOAD), str)
    assert len(server.command("XRANGE", "orders", "-", "+")[0][1]) == MOST_PARTS


async def test_out_of_memory_writes_nothing(start_server: StartServer, program: ServerProgram) -> None:
    server = start_server("--maxmemory", "1", program=program)
    wire = await Server.connect(server.options)
    refused = await publish_with_payload(wire, "orders", PAYLOAD.reference, PAYLOAD)
    assert isinstance(refused, Fault)
    assert refused.kind is FaultKind.MEMORY
    assert server.command("DBSIZE") == 0
    await wire.close()


async def test_what_is_no_payload_is_none(server: RunningServer, wire: Server) -> None:
    server.command("RPUSH", "{orders}:payload:list", "x")
    keys = [f"{{orders}}:payload:{number}" for number in range(2 * AT_ONCE + 1)]
    server.command("MSET", *(part for key in keys for part in (key, key)))
    found = await fetch_payloads(wire, ["{orders}:payload:list", *keys])
    assert found == [None, *map(str.encode, keys)]
    assert await fetch_payloads(wire, []) == []


async def test_kept_ahead_of_its_entry(server: RunningServer, wire: Server) -> None:
    assert await keep_payload(wire, PAYLOAD) is None
    assert 0 < server.command("PTTL", PAYLOAD.key) <= 3_600_000
