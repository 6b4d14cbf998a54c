"""A collection costs what it should, and what it cannot read it says."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.model.lag import LagBasis
from streamops.model.streams import ReadError
from streamops.monitor import details as details_module
from streamops.monitor.details import MAX_CONSUMERS
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire import reads
from streamops.wire.node import Command, Node, Reply
from streamops.wire.options import Secret
from streamops.wire.server import Server
from tests.support.monitor.collect import add_stream
from tests.support.servers import RunningServer, StartServer


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


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of all batches sent, in order."""
    sizes: list[int] = []
    send = Node.batch

    async def counted(self: Node, commands: Sequence[Command], *args: Any, **kwargs: Any) -> list[Reply]:
        sizes.append(len(commands))
        return await send(self, commands, *args, **kwargs)

    monkeypatch.setattr(Node, "batch", counted)
    return sizes


async def test_round_trips_do_not_grow_with_the_streams(server: RunningServer, batches: list[int]) -> None:
    trips = []
    async with await Console.open(server.options) as console:
        for many in (1, 300):
            for number in range(many):
                add_stream(server, f"orders:{many}:{number}", read=4)
            await console.discover()
            await console.collect()
            batches.clear()
            snapshot = await console.collect()
            assert len(snapshot.streams) >= many
            assert all(stream.groups[0].oldest_pending for stream in snapshot.streams)
            trips.append(len(batches))
    assert trips[0] == trips[1] <= 3


async def test_round_trips_of_counting_are_bounded(server: RunningServer, batches: list[int]) -> None:
    """Every lag here has to be counted on every server: the tombstone makes the server's own unknown."""
    async with await Console.open(server.options) as console:
        for number in range(200):
            name = f"orders:{number}"
            add_stream(server, name, entries=8, read=3)
            server.command("XDEL", name, server.command("XRANGE", name, "-", "+")[5][0])
        await console.discover()
        batches.clear()
        snapshot = await console.collect()
    assert {stream.groups[0].lag.basis for stream in snapshot.streams} == {LagBasis.EXACT}
    assert {stream.groups[0].lag.entries for stream in snapshot.streams} == {4}
    # Delayed queues are one of them, pending entries that were deleted another; one more where the reader had to step down.
    assert len(batches) <= 4 + 6


def sent_bytes(server: RunningServer) -> int:
    return int(server.client.info("stats")["total_net_output_bytes"])


async def test_payloads_stay_on_the_server(server: RunningServer) -> None:
    """Four streams of 5 MB entries cost the network what four streams of 100-byte entries cost."""
    spent = []
    for size in (100, 5_000_000):
        server.flush()
        for number in range(4):
            add_stream(server, f"orders:{number}", entries=3, read=1, size=size)
        async with await Console.open(server.options) as console:
            await console.discover()
            before = sent_bytes(server)
            for _ in range(2):
                snapshot = await console.collect()
            spent.append(sent_bytes(server) - before)
        assert snapshot.gaps == ()
        assert [stream.entry_bytes for stream in snapshot.streams] == [size + 1] * 4
        assert all(stream.groups[0].time_lag.age is not None for stream in snapshot.streams)
    assert abs(spent[1] - spent[0]) < 4096


async def test_stream_that_vanished_since_it_was_found_is_absent(server: RunningServer) -> None:
    add_stream(server, "kept")
    add_stream(server, "gone")
    async with await Console.open(server.options) as console:
        await console.discover()
        server.command("DEL", "gone")
        snapshot = await console.collect()
    assert [stream.name for stream in snapshot.streams] == ["kept"]
    assert snapshot.gaps == ()
    assert snapshot.discovered == 2


async def test_stream_asked_for_that_is_not_there_is_a_gap(server: RunningServer) -> None:
    add_stream(server, "kept")
    missing = (ReadError("no such stream", "gone"),)
    async with await Console.open(server.options, Watch(streams=("kept", "gone", "x*"))) as console:
        await console.discover()
        assert (await console.collect()).gaps == missing
        assert (await console.collect(["gone"])).gaps == missing
        assert (await console.collect(["kept"])).gaps == ()


async def test_key_of_another_type_is_a_gap(server: RunningServer) -> None:
    add_stream(server, "kept")
    for number, (name, *words) in enumerate(
        [("HSET", "f", "v"), ("LPUSH", "v"), ("SET", "v"), ("ZADD", 1, "v")]
    ):
        server.command(name, f"other:{number}", *words)
    others = tuple(f"other:{number}" for number in range(4))
    async with await Console.open(server.options, Watch(streams=("kept", *others))) as console:
        snapshot = await console.collect()
    assert [stream.name for stream in snapshot.streams] == ["kept"]
    assert snapshot.gaps == tuple(ReadError("not a stream", other) for other in others)


@pytest.mark.parametrize("lost", ["group", "stream"])
async def test_what_is_lost_between_two_round_trips_is_a_gap(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    add_stream(server, "orders", read=2)
    read_consumers = reads.read_consumers

    async def too_late(to: Server, groups: Sequence[tuple[str, str]], now: int) -> list[Any]:
        if lost == "group":
            server.command("XGROUP", "DESTROY", "orders", "billing")
        else:
            server.command("DEL", "orders")
        return await read_consumers(to, groups, now)

    monkeypatch.setattr(details_module, "read_consumers", too_late)
    async with await Console.open(server.options, Watch(streams=("orders",))) as console:
        snapshot = await console.collect()
        (group,) = snapshot.streams[0].groups
        assert group.members is None
        reason = "no such group" if lost == "group" else "no such stream"
        assert snapshot.gaps == (ReadError(reason, "orders", "billing", "consumers"),)
        monkeypatch.undo()
        after = await console.collect()
    assert [stream.groups for stream in after.streams] == ([()] if lost == "group" else [])


async def test_a_collection_without_details_leaves_out_members_and_profiles(server: RunningServer) -> None:
    add_stream(server, "orders", read=2)
    async with await Console.open(server.options, Watch(("orders",), details=False)) as console:
        (group,) = (await console.collect()).streams[0].groups
    assert (group.members, group.profile) == (None, None)
    assert (group.pending, group.lag.entries) == (2, 2)
    assert group.time_lag.age is not None


async def test_heartbeats_tell_which_of_our_workers_are_dead(
    server: RunningServer, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those only that hold something and have been silent, and in no more round trips than without them."""
    monkeypatch.setattr(details_module, "HEARTBEAT_SILENCE", timedelta(0))
    server.command("HSET", "streamops:worker:so-living", "v", 1)
    for stream in ("a", "b"):
        add_stream(server, stream)
        for name in ("so-living", "so-dead", "worker"):
            server.command("XREADGROUP", "GROUP", "billing", name, "COUNT", 1, "STREAMS", stream, ">")
        server.command("XGROUP", "CREATECONSUMER", stream, "billing", "so-idle")
    async with await Console.open(server.options) as console:
        await console.discover()
        await console.collect()
        batches.clear()
        snapshot = await console.collect()
    for state in snapshot.streams:
        members = state.groups[0].members or ()
        assert {one.name: one.alive for one in members} == {
            "so-living": True,
            "so-dead": False,
            "worker": None,
            "so-idle": None,
        }
    assert len(batches) <= 5


async def test_heartbeats_that_may_not_be_read_leave_a_suspicion(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(details_module, "HEARTBEAT_SILENCE", timedelta(0))
    add_stream(server, "a")
    server.command("XREADGROUP", "GROUP", "billing", "so-dead", "COUNT", 1, "STREAMS", "a", ">")
    server.command("ACL", "SETUSER", "narrow", "on", ">right", "~a", "+@all")
    try:
        options = replace(server.options, username="narrow", password=Secret("right"))
        async with await Console.open(options) as console:
            await console.discover()
            (stream,) = (await console.collect()).streams
    finally:
        server.command("ACL", "DELUSER", "narrow")
    assert [one.alive for one in stream.groups[0].members or ()] == [None]
