"""What a plan counts while others delete and acknowledge: bounds, or a number that was true at an instant."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.monitor.inspection import StreamInspection, inspect_stream
from streamops.operations import walking
from streamops.operations.walking import count_below
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.support.operations.counted_meanwhile import STREAM, delete, interrupt
from tests.support.servers import RunningServer
from tests.support.streams import add_counting

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


@pytest.fixture
async def connected(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """A server whose stream has a hundred entries, walked over in steps of seven."""
    monkeypatch.setattr(walking, "STEP", 7)
    add_counting(server, STREAM, 1, 100)
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


def without_scripts(look: StreamInspection) -> StreamInspection:
    return replace(look, depth=Depth.TRANSACTION)


@pytest.mark.parametrize("act", ["nothing", "add", "delete"])
async def test_without_scripts_another_reading_tells(
    server: RunningServer, connected: Server, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    look = without_scripts(await inspect_stream(connected, STREAM))

    def meanwhile() -> None:
        if act == "add":
            add_counting(server, STREAM, 101, 105)
        elif act == "delete":
            delete(server, 90)

    interrupt(monkeypatch, meanwhile)
    told = await count_below(connected, look, EntryId(71, 0))
    # Before Redis 7.0 servers do not tell what was added.
    assert told.exact is (act == "nothing" or (act == "add" and server.label != "redis-6.2"))
    assert told.lower <= 70 <= told.upper
