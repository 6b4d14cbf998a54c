"""Arrivals by the times of entries' IDs."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import NotFound, ServerError
from streamops.model.secret import Secret
from streamops.operate.acting.place import Place
from streamops.operate.arrivals import ArrivalReader
from streamops.wire.server import Server
from tests.servers import RunningServer

STREAM = "orders"
COUNTS = {0: 3, 1: 2_500, 2: 1, 250: 7, 299: 2}
"""Entries of some seconds: one second takes several pages, and most of the others have none."""


@pytest.fixture
async def reader(server: RunningServer) -> AsyncIterator[ArrivalReader]:
    connection = await Server.connect(server.options)
    yield ArrivalReader(Place(connection))
    await connection.close()


def fill(server: RunningServer, counts: Mapping[int, int] = COUNTS, size: int = 10) -> datetime:
    """Entries at seconds after a time ten minutes ago; that time."""
    begin = server.client.time()[0] - 600
    pipeline = server.client.pipeline(transaction=False)
    for second, count in counts.items():
        for number in range(count):
            ms = (begin + second) * 1000 + 999 * number // max(1, count - 1)
            pipeline.xadd(STREAM, {"f": "x" * size}, id=f"{ms}-{number + 1}")
    pipeline.execute()
    return datetime.fromtimestamp(begin, UTC)


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


async def test_from_a_time_on(server: RunningServer, reader: ArrivalReader) -> None:
    begin = fill(server)
    found = await reader.since(STREAM, begin + timedelta(seconds=2))
    assert found.begins_at == begin + timedelta(seconds=2)
    assert found.counts[0] == 1
    assert found.scanned == 10


async def test_what_was_dropped_is_told(server: RunningServer, reader: ArrivalReader) -> None:
    begin = fill(server)
    server.client.xtrim(STREAM, maxlen=9, approximate=False)
    found = await reader.since(STREAM, timedelta(hours=1))
    assert found.first_at == found.begins_at == begin + timedelta(seconds=250)
    assert found.scanned == 9
    assert found.dropped == (None if server.label == "redis-6.2" else 2_504)


async def test_counting_is_bounded(server: RunningServer, reader: ArrivalReader) -> None:
    fill(server)
    found = await reader.since(STREAM, timedelta(hours=1), max_scan=100)
    assert not found.complete
    assert found.counts == (3,)


async def test_large_entries_take_more_steps(server: RunningServer, reader: ArrivalReader) -> None:
    fill(server, {0: 30, 1: 1, 5: 30}, size=400_000)
    found = await reader.since(STREAM, timedelta(hours=1))
    assert found.counts[:6] == (30, 1, 0, 0, 0, 30)


async def test_ids_that_are_no_times(server: RunningServer, reader: ArrivalReader) -> None:
    server.client.xadd(STREAM, {"f": "x"}, id="1-1")
    with pytest.raises(ServerError, match="its IDs are no times"):
        await reader.since(STREAM, timedelta(hours=1))


async def test_nothing_to_count(server: RunningServer, reader: ArrivalReader) -> None:
    with pytest.raises(NotFound):
        await reader.since("missing", timedelta(hours=1))
    fill(server)
    with pytest.raises(NotFound, match="has no entries since"):
        await reader.since(STREAM, timedelta(seconds=30))
    server.client.xtrim(STREAM, maxlen=0, approximate=False)
    with pytest.raises(NotFound, match="has no entries"):
        await reader.since(STREAM, timedelta(hours=1))
    server.client.set("text", "x")
    with pytest.raises(NotFound, match="text"):
        await reader.since("text", timedelta(hours=1))


async def test_where_scripts_may_not_run(server: RunningServer) -> None:
    begin = fill(server)
    rules = ("on", ">right", "~*", "+@all", "-@scripting")
    server.command("ACL", "SETUSER", "narrow", *rules)
    options = replace(server.options, username="narrow", password=Secret("right"))
    connection = await Server.connect(options)
    try:
        found = await ArrivalReader(Place(connection)).since(STREAM, begin)
    finally:
        await connection.close()
    assert {second: count for second, count in enumerate(found.counts) if count} == COUNTS
