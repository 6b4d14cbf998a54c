"""Arrivals by the times of entries' IDs."""

from datetime import timedelta

import pytest

from streamops.monitor.arrivals import ArrivalReader
from tests.support.monitor.arrivals import STREAM, add_in_seconds
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def test_what_was_dropped_is_told(server: RunningServer, reader: ArrivalReader) -> None:
    begin = add_in_seconds(server)
    server.client.xtrim(STREAM, maxlen=9, approximate=False)
    found = await reader.since(STREAM, timedelta(hours=1))
    assert found.first_at == found.begins_at == begin + timedelta(seconds=250)
    assert found.scanned == 9
    assert found.dropped == (None if server.label == "redis-6.2" else 2_504)
