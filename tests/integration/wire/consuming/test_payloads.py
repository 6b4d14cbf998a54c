"""Payloads beside a stream: added with their entries or not at all, and fetched by their keys."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from streamops.errors import Refused
from streamops.wire.consuming.payloads import (
    fetch_payloads,
)
from streamops.wire.options import Secret
from streamops.wire.server import Server
from tests.support.servers import RunningServer, StartServer


@pytest.fixture
async def wire(server: RunningServer) -> AsyncIterator[Server]:
    wire = await Server.connect(server.options)
    yield wire
    await wire.close()


async def test_no_permission_to_read_is_no_missing_payload(start_server: StartServer) -> None:
    """It would be taken for dead otherwise."""
    server = start_server()
    server.command("ACL", "SETUSER", "worker", "on", ">right", "~*", "+@all", "-get")
    wire = Server(replace(server.options, username="worker", password=Secret("right")))
    with pytest.raises(Refused):
        await fetch_payloads(wire, ["{orders}:payload:1"])
    await wire.close()
