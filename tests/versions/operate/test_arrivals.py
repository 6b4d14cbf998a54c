"""Arrivals by the times of entries' IDs."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from streamops.operate.acting.place import Place
from streamops.operate.arrivals import ArrivalReader
from streamops.wire.server import Server
from tests.support.operate.arrivals import COUNTS, STREAM, fill
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


@pytest.fixture
async def reader(server: RunningServer) -> AsyncIterator[ArrivalReader]:
    connection = await Server.connect(server.options)
    yield ArrivalReader(Place(connection))
    await connection.close()


async def test_every_second_has_its_entries(server: RunningServer, reader: ArrivalReader) -> None:
    begin = fill(server)
    told: list[tuple[int, int]] = []
    found = await reader.since(
        STREAM, timedelta(hours=12), tell=lambda done, total: told.append((done, total))
    )
    assert found.begins_at == begin
    assert {second: count for second, count in enumerate(found.counts) if count} == COUNTS
    assert 599 <= len(found.counts) <= 605
    assert (found.scanned, found.complete) == (sum(COUNTS.values()), True)
    assert told[0][0] == 200
    assert told[-1][0] == told[-1][1] == len(found.counts)
    assert found.dropped == (None if server.label == "redis-6.2" else 0)


async def test_what_was_dropped_is_told(server: RunningServer, reader: ArrivalReader) -> None:
    begin = fill(server)
    server.client.xtrim(STREAM, maxlen=9, approximate=False)
    found = await reader.since(STREAM, timedelta(hours=1))
    assert found.first_at == found.begins_at == begin + timedelta(seconds=250)
    assert found.scanned == 9
    assert found.dropped == (None if server.label == "redis-6.2" else 2_504)
