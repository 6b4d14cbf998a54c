"""Arrivals by the times of entries' IDs."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import NotFound, ServerError
from streamops.model.secret import Secret
from streamops.monitor.arrivals import ArrivalReader
from streamops.monitor.context import ServerContext
from streamops.wire.server import Server
from tests.support.monitor.arrivals import COUNTS, STREAM, add_in_seconds
from tests.support.servers import RunningServer


async def test_arrivals_are_counted_from_a_time_on(server: RunningServer, reader: ArrivalReader) -> None:
    begin = add_in_seconds(server)
    found = await reader.since(STREAM, begin + timedelta(seconds=2))
    assert found.begins_at == begin + timedelta(seconds=2)
    assert found.counts[0] == 1
    assert found.scanned == 10


async def test_counting_is_bounded(server: RunningServer, reader: ArrivalReader) -> None:
    add_in_seconds(server)
    found = await reader.since(STREAM, timedelta(hours=1), max_scan=100)
    assert not found.complete
    assert found.counts == (3,)


async def test_large_entries_take_more_steps(server: RunningServer, reader: ArrivalReader) -> None:
    add_in_seconds(server, {0: 12, 1: 1, 5: 12}, size=400_000)
    found = await reader.since(STREAM, timedelta(hours=1))
    assert found.counts[:6] == (12, 1, 0, 0, 0, 12)


async def test_ids_that_are_no_times(server: RunningServer, reader: ArrivalReader) -> None:
    server.client.xadd(STREAM, {"f": "x"}, id="1-1")
    with pytest.raises(ServerError, match="its IDs are not timestamps"):
        await reader.since(STREAM, timedelta(hours=1))


async def test_a_stream_without_entries_in_the_span_is_not_found(
    server: RunningServer, reader: ArrivalReader
) -> None:
    with pytest.raises(NotFound):
        await reader.since("missing", timedelta(hours=1))
    add_in_seconds(server)
    with pytest.raises(NotFound, match="has no entries since"):
        await reader.since(STREAM, timedelta(seconds=30))
    server.client.xtrim(STREAM, maxlen=0, approximate=False)
    with pytest.raises(NotFound, match="has no entries"):
        await reader.since(STREAM, timedelta(hours=1))
    server.client.set("text", "x")
    with pytest.raises(NotFound, match="text"):
        await reader.since("text", timedelta(hours=1))


async def test_arrivals_are_counted_where_scripts_may_not_run(server: RunningServer) -> None:
    begin = add_in_seconds(server)
    rules = ("on", ">right", "~*", "+@all", "-@scripting")
    server.command("ACL", "SETUSER", "narrow", *rules)
    options = replace(server.options, username="narrow", password=Secret("right"))
    connection = await Server.connect(options)
    try:
        found = await ArrivalReader(ServerContext(connection)).since(STREAM, begin)
    finally:
        await connection.close()
    assert {second: count for second, count in enumerate(found.counts) if count} == COUNTS


async def test_every_second_has_its_entries(server: RunningServer, reader: ArrivalReader) -> None:
    begin = add_in_seconds(server)
    told: list[tuple[int, int]] = []
    found = await reader.since(
        STREAM, timedelta(hours=12), progress=lambda done, total: told.append((done, total))
    )
    assert found.begins_at == begin
    assert {second: count for second, count in enumerate(found.counts) if count} == COUNTS
    assert 599 <= len(found.counts) <= 605
    assert (found.scanned, found.complete) == (sum(COUNTS.values()), True)
    assert told[0][0] == 200
    assert told[-1][0] == told[-1][1] == len(found.counts)
    assert found.dropped == (None if server.label == "redis-6.2" else 0)
