"""Streams with more groups than a script can read within its time."""

import pytest

from streamops.model.readings import StreamReading
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader
from tests.support.servers import RunningServer
from tests.support.wire.crowded import MOST, make, patient

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def read(server: RunningServer, *names: str) -> list[StreamReading]:
    connected = await Server.connect(patient(server))
    try:
        found = (await StreamReader(connected).read(names)).streams
    finally:
        await connected.close()
    assert all(isinstance(reading, StreamReading) for reading in found)
    return found  # type: ignore[return-value]  # just looked at


async def test_a_crowded_stream_is_read_among_others(server: RunningServer) -> None:
    make(server, "few", 1)
    make(server, "crowded", MOST + 1)
    make(server, "most", MOST)
    first, crowded, last = await read(server, "few", "crowded", "most")
    assert [len(reading.groups) for reading in (first, crowded, last)] == [1, MOST + 1, MOST]
    assert crowded.bounds_read
    assert (crowded.length, crowded.first_id, crowded.last_id) == (3, last.first_id, last.last_id)
    assert {group.last_delivered_id for group in crowded.groups} == {first.groups[0].last_delivered_id}
    assert {group.pending for group in crowded.groups} == {1}


async def test_a_crowded_stream_is_read_as_another_one(server: RunningServer) -> None:
    make(server, "few", 1)
    make(server, "crowded", MOST + 1)
    few, crowded = await read(server, "few", "crowded")
    assert few.groups[0].oldest_pending is not None
    oldest = [group.oldest_pending for group in crowded.groups]
    assert {row and (row.id, row.consumer, row.delivery_count) for row in oldest} == {
        (few.groups[0].oldest_pending.id, "worker", 1)
    }


async def test_no_script_reads_the_groups_of_a_crowded_stream(server: RunningServer) -> None:
    make(server, "crowded", MOST + 1)
    server.command("CONFIG", "RESETSTAT")
    (crowded,) = await read(server, "crowded")
    told = server.client.info("commandstats")
    assert told["cmdstat_xinfo|groups" if "cmdstat_xinfo|groups" in told else "cmdstat_xinfo"]["calls"] <= 3
    assert len(crowded.groups) == MOST + 1
    # One for each group, all of them sent by the client: the script gave way before the first.
    assert told["cmdstat_xpending"]["calls"] == MOST + 1
