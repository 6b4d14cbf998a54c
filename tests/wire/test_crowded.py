"""Streams with more groups than a script can read within its time."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.model.acts.trim import TrimIntent
from streamops.model.readings import StreamReading
from streamops.operate.console import Console
from streamops.operate.watch import Watch
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader
from tests.servers import RunningServer

MOST = 1_000
MAKE = """
for each = 1, 3 do redis.call('XADD', KEYS[1], each, 'n', each) end
for number = 1, ARGV[1] do
  local group = 'g' .. number
  redis.call('XGROUP', 'CREATE', KEYS[1], group, '0')
  redis.call('XREADGROUP', 'GROUP', group, 'worker', 'COUNT', 1, 'STREAMS', KEYS[1], '>')
end
"""


def patient(server: RunningServer) -> ConnectionOptions:
    """How it is reached by who waits on a machine that is busy."""
    return replace(server.options, timeout=timedelta(seconds=30))


def make(server: RunningServer, stream: str, groups: int) -> None:
    """Three entries, the first of them pending with each group."""
    server.command("EVAL", MAKE, 1, stream, groups)


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


async def test_what_a_crowded_stream_needs_is_not_trimmed(any_server: RunningServer) -> None:
    make(any_server, "crowded", MOST + 1)
    async with await Console.open(patient(any_server)) as console:
        prepared = await console.prepare(TrimIntent(stream="crowded", maxlen=0, exact=True))
    assert prepared.plan.count == 0


async def test_a_stream_with_large_entries_that_becomes_crowded_is_read_on(any_server: RunningServer) -> None:
    make(any_server, "s", 1)
    any_server.command("XADD", "s", "*", "body", "x" * 10_000)
    connected = await Server.connect(patient(any_server))
    try:
        reader = StreamReader(connected)
        (before,) = (await reader.read(["s"])).streams
        any_server.command(
            "EVAL", MAKE.replace("for each = 1, 3", "for each = 1, 0").replace("'g'", "'h'"), 1, "s", MOST
        )
        (after,) = (await reader.read(["s"])).streams
    finally:
        await connected.close()
    assert isinstance(before, StreamReading)
    assert isinstance(after, StreamReading)
    assert (len(before.groups), len(after.groups)) == (1, MOST + 1)


@pytest.mark.parametrize("deep", [False, True])
async def test_a_crowded_stream_is_collected_whole(any_server: RunningServer, *, deep: bool) -> None:
    make(any_server, "crowded", MOST + 1)
    async with await Console.open(patient(any_server), Watch(deep=deep)) as console:
        for _ in range(2):
            (view,) = (await console.observe(["crowded"])).streams
            assert len(view.groups) == MOST + 1
            assert {view.group.lag.entries for view in view.groups} == {2}
            assert all(view.group.oldest_pending is not None for view in view.groups)
