"""Payloads beside a stream: added with their entries or not at all, and fetched by their keys."""

import pytest
from msgspec.structs import replace

from streamops.errors import Refused
from streamops.wire.consuming.payloads import AT_ONCE, fetch_payloads, keep_payload, new_payload
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.options import Secret
from streamops.wire.server import Server
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.consuming.payloads import HOUR, PAYLOAD, publish_with_payload


async def test_no_permission_to_read_is_no_missing_payload(start_server: StartServer) -> None:
    """It would be taken for dead otherwise."""
    server = start_server()
    server.command("ACL", "SETUSER", "worker", "on", ">right", "~*", "+@all", "-get")
    connected = Server(replace(server.options, username="worker", password=Secret("right")))
    with pytest.raises(Refused):
        await fetch_payloads(connected, ["{orders}:payload:1"])
    await connected.close()


async def test_no_payload_is_left_behind(server: RunningServer, connected: Server) -> None:
    """Of an entry that cannot be added: its ID is taken, or the key is no stream."""
    server.command("XADD", "orders", "5-0", "n", "1")
    refused = await publish_with_payload(connected, "orders", PAYLOAD.reference, PAYLOAD, entry_id="5-0")
    assert isinstance(refused, Fault)
    assert "equal or smaller" in refused.reason
    server.command("SET", "text", "v")
    payload = new_payload("text", b"x", HOUR)
    wrong = await publish_with_payload(connected, "text", payload.reference, payload)
    assert isinstance(wrong, Fault)
    assert wrong.kind is FaultKind.WRONG_TYPE
    assert sorted(server.command("KEYS", "*")) == [b"orders", b"text"]


async def test_a_payload_is_never_replaced(server: RunningServer, connected: Server) -> None:
    server.command("SET", PAYLOAD.key, "somebody's")
    refused = await publish_with_payload(connected, "orders", PAYLOAD.reference, PAYLOAD)
    assert isinstance(refused, Fault)
    assert "already" in refused.reason
    assert server.command("GET", PAYLOAD.key) == b"somebody's"
    assert server.command("EXISTS", "orders") == 0


async def test_out_of_memory_writes_nothing(start_server: StartServer, program: ServerProgram) -> None:
    server = start_server("--maxmemory", "1", program=program)
    connected = await Server.connect(server.options)
    refused = await publish_with_payload(connected, "orders", PAYLOAD.reference, PAYLOAD)
    assert isinstance(refused, Fault)
    assert refused.kind is FaultKind.MEMORY
    assert server.command("DBSIZE") == 0
    await connected.close()


async def test_what_is_no_payload_is_none(server: RunningServer, connected: Server) -> None:
    server.command("RPUSH", "{orders}:payload:list", "x")
    keys = [f"{{orders}}:payload:{number}" for number in range(2 * AT_ONCE + 1)]
    server.command("MSET", *(part for key in keys for part in (key, key)))
    found = await fetch_payloads(connected, ["{orders}:payload:list", *keys])
    assert found == [None, *map(str.encode, keys)]
    assert await fetch_payloads(connected, []) == []


async def test_kept_ahead_of_its_entry(server: RunningServer, connected: Server) -> None:
    await keep_payload(connected, PAYLOAD)
    assert 0 < server.command("PTTL", PAYLOAD.key) <= 3_600_000
