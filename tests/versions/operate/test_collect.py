"""A collection costs what it should, and what it cannot read it says."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.model.lag import LagBasis
from streamops.model.snapshot import Gap
from streamops.operate import details as details_module
from streamops.operate.console import Console
from streamops.operate.watch import Watch
from streamops.wire import reads
from streamops.wire.node import Command, Node, Reply
from streamops.wire.options import Secret
from streamops.wire.server import Server
from tests.support.operate.collect import add_stream
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


ODD_NAMES = (
    b"",
    b" ",
    b"a b",
    b"line\nbreak\r\n",
    b"{tag}:x",
    b"}{",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    "ü€".encode(),
)


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
    assert len(batches) <= 3 + 5  # and one more where the reader had to step down


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
    missing = (Gap("no such stream", "gone"),)
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
    assert snapshot.gaps == tuple(Gap("not a stream", other) for other in others)


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
        assert snapshot.gaps == (Gap(reason, "orders", "billing", "consumers"),)
        monkeypatch.undo()
        after = await console.collect()
    assert [stream.groups for stream in after.streams] == ([()] if lost == "group" else [])


async def test_names_of_any_bytes(server: RunningServer) -> None:
    for name in ODD_NAMES:
        server.command("XADD", name, "1-1", b"f\xff", b"v\xff")
        for group_name in ODD_NAMES:
            server.command("XGROUP", "CREATE", name, group_name, "0")
        server.command("XREADGROUP", "GROUP", name, name, "STREAMS", name, ">")
    expected = sorted(name.decode("utf-8", "surrogateescape") for name in ODD_NAMES)
    async with await Console.open(server.options) as console:
        await console.discover()
        snapshot = await console.collect()
        assert snapshot.gaps == ()
        assert [stream.name for stream in snapshot.streams] == expected
        for stream in snapshot.streams:
            assert sorted(group.name for group in stream.groups) == expected
            group = next(group for group in stream.groups if group.name == stream.name)
            assert group.oldest_pending is not None
            assert group.oldest_pending.consumer == stream.name
            assert group.members is not None
            assert [member.name for member in group.members] == [stream.name]
            (entry,) = (await console.read_entries(stream.name)).entries
            assert entry.fields == ((b"f\xff", b"v\xff"),)
            (row,) = (await console.read_pending(stream.name, stream.name, consumer=stream.name)).rows
            assert row == replace(group.oldest_pending, idle=row.idle)


async def test_without_details(server: RunningServer) -> None:
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
    monkeypatch.setattr(details_module, "HEART_SILENCE", timedelta(0))
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
    monkeypatch.setattr(details_module, "HEART_SILENCE", timedelta(0))
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
