"""A collection costs what it should, and what it cannot read it says."""

from datetime import timedelta

import pytest
from msgspec import msgpack
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.model.snapshot import Snapshot
from streamops.operate.console import Console
from streamops.operate.details import MAX_CONSUMERS
from streamops.operate.watch import Watch
from tests.support.operate.collect import add_stream
from tests.support.servers import RunningServer, StartServer


async def test_what_people_look_at_can_be_recorded(server: RunningServer) -> None:
    add_stream(server, "orders", read=2)
    async with await Console.open(server.options, Watch(streams=("orders",))) as console:
        snapshot = await console.collect()
    assert snapshot.streams[0].groups[0].members
    assert msgpack.decode(msgpack.encode(snapshot), type=Snapshot) == snapshot


async def test_what_stands_still_grows_older_by_the_time_that_passes(server: RunningServer) -> None:
    add_stream(server, "orders", read=2)
    async with await Console.open(server.options, Watch(deep=True)) as console:
        await console.discover()
        await console.collect()
        first, second = [await console.collect() for _ in range(2)]
    passed = second.collected_at - first.collected_at
    before, after = first.streams[0].groups[0], second.streams[0].groups[0]
    assert before.oldest_pending is not None
    assert after.oldest_pending is not None
    assert before.members
    assert after.members
    ages = [
        (before.oldest_pending.idle, after.oldest_pending.idle),
        (before.members[0].idle, after.members[0].idle),
        (before.oldest_pending_age, after.oldest_pending_age),
        (before.time_lag.age, after.time_lag.age),
    ]
    for was, now in ages:
        assert was is not None
        assert now is not None
        assert abs(now - was - passed) <= timedelta(milliseconds=1)


async def test_too_many_consumers_are_a_gap(server: RunningServer) -> None:
    add_stream(server, "orders", read=2)
    pipeline = server.client.pipeline(transaction=False)
    for number in range(MAX_CONSUMERS):
        pipeline.xgroup_createconsumer("orders", "billing", f"c{number}")
    pipeline.execute()
    async with await Console.open(server.options, Watch(streams=("orders",))) as console:
        snapshot = await console.collect()
    (group,) = snapshot.streams[0].groups
    assert (group.consumers, group.members) == (MAX_CONSUMERS + 1, None)
    assert [gap.capped for gap in snapshot.gaps] == [True]
    (gap,) = snapshot.gaps
    assert (gap.stream, gap.group, gap.part) == ("orders", "billing", "consumers")
    assert "1,001 consumers" in gap.reason


async def test_server_that_hangs_and_wakes(start_server: StartServer) -> None:
    server = start_server()
    add_stream(server, "orders")
    options = replace(server.options, timeout=timedelta(seconds=0.2))
    async with await Console.open(options, Watch(("orders",))) as console:
        before = await console.collect()
        server.pause()
        with pytest.raises(Unreachable):
            await console.collect()
        server.resume()
        after = await console.collect()
    assert after.collected_at > before.collected_at
    assert [stream.length for stream in after.streams] == [4]


async def test_snapshot_says_what_it_took(server: RunningServer) -> None:
    add_stream(server, "orders")
    async with await Console.open(server.options, Watch(("orders",))) as console:
        snapshot = await console.collect()
        nothing = await console.collect(["nothing"])
    assert snapshot.commands == 3
    assert timedelta(0) < snapshot.elapsed < timedelta(seconds=2)
    assert snapshot.discovery_complete
    assert nothing.streams == ()
