"""Which streams there are: asked for by name or pattern, or found by a scan that stays out of the way."""

import asyncio
import time
from datetime import timedelta
from itertools import pairwise

import pytest
from msgspec.structs import replace

from streamops.errors import Refused, Unreachable
from streamops.monitor import discover
from streamops.monitor.discover import KEYS_PER_STEP, SHARE, Discovery, pause_after
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire.options import Secret
from streamops.wire.server import Server
from tests.support.eventually import eventually
from tests.support.monitor.discover import add_streams, names
from tests.support.servers import RunningServer


def add_keys(server: RunningServer, many: int) -> None:
    """Keys that are no streams."""
    pipeline = server.client.pipeline(transaction=False)
    for number in range(many):
        pipeline.set(f"key:{number}", "v")
    pipeline.execute()


async def test_everything_without_patterns(server: RunningServer) -> None:
    add_streams(server, "b", "a", "c:dlq")
    add_keys(server, 3 * KEYS_PER_STEP)
    assert await names(server, Watch()) == ["a", "b", "c:dlq"]


async def test_patterns_names_and_exclusions(server: RunningServer) -> None:
    add_streams(server, "orders:eu", "orders:us", "orders:eu:dlq", "payments", "zebra", "other")
    for watch, expected in (
        (Watch(("orders:*",)), ["orders:eu", "orders:eu:dlq", "orders:us"]),
        (Watch(("orders:??", "pay*")), ["orders:eu", "orders:us", "payments"]),
        (Watch(("zebra", "orders:u*")), ["zebra", "orders:us"]),
        (Watch(("zebra", "zebra", "z*")), ["zebra"]),
        (Watch(exclude=("orders:*", "[oz]*")), ["payments"]),
        (Watch(("zebra", "payments"), exclude=("zebra",)), ["payments"]),
        (Watch(("orders:*",), exclude=("*:dlq",)), ["orders:eu", "orders:us"]),
    ):
        assert await names(server, watch) == expected


async def test_names_alone_need_no_scan(server: RunningServer) -> None:
    add_streams(server, "orders", "payments")
    server.command("CONFIG", "RESETSTAT")
    async with await Console.open(server.options, Watch(("orders", "{a}"))) as console:
        assert console.discovery.complete
        console.start_discovery()
        await console.discover()
        snapshot = await console.collect()
        await asyncio.sleep(0)
    assert [stream.name for stream in snapshot.streams] == ["orders"]
    assert snapshot.discovery_complete
    assert server.calls("scan") == 0


async def test_more_streams_than_are_shown_are_announced(server: RunningServer) -> None:
    add_streams(server, *(f"s{number}" for number in range(9)), "wanted")
    async with await Console.open(server.options, Watch(("wanted", "s*"), max_streams=4)) as console:
        await console.discover()
        snapshot = await console.collect()
        assert [stream.name for stream in snapshot.streams] == ["wanted", "s0", "s1", "s2"]
        assert snapshot.discovered == 10
        # Asked for by name, every one of them can be seen.
        only = await console.collect([f"s{number}" for number in range(9)])
        assert len(only.streams) == 9


async def test_streams_come_and_go(server: RunningServer) -> None:
    add_streams(server, "first", "second")
    async with await Console.open(server.options) as console:
        await console.discover()
        server.command("DEL", "first")
        add_streams(server, "third")
        assert console.discovery.names == ["first", "second"]
        await console.discover()
        assert console.discovery.names == ["second", "third"]


async def test_found_streams_are_shown_before_the_scan_ends(
    server: RunningServer, connected: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_streams(server, *(f"s{number}" for number in range(20)))
    monkeypatch.setattr(discover, "KEYS_PER_STEP", 1)
    discovery = Discovery(connected, Watch())
    seen: list[int] = []

    async def look() -> None:
        while not discovery.complete:
            seen.append(len(discovery.names))
            await asyncio.sleep(0)

    await asyncio.gather(discovery.scan(), look())
    assert all(before <= after for before, after in pairwise(seen))
    assert len(set(seen)) > 3
    assert not discovery.problem


async def test_background_scan_keeps_its_pace(server: RunningServer) -> None:
    """Most of the time it rests: of the wall time, the server is busy with it for at most its share."""
    add_streams(server, "orders")
    add_keys(server, 8 * KEYS_PER_STEP)
    server.command("CONFIG", "RESETSTAT")
    async with await Console.open(server.options) as console:
        started = time.monotonic()
        console.start_discovery()
        console.start_discovery()
        await eventually(lambda: console.discovery.complete)
        wall = time.monotonic() - started
    statistics = server.client.info("commandstats")["cmdstat_scan"]
    assert 8 <= statistics["calls"] <= 16
    assert statistics["usec"] / 1e6 <= 2 * SHARE * wall
    assert console.discovery.names == ["orders"]


async def test_poll_during_a_scan_waits_for_one_step_at_most(server: RunningServer) -> None:
    """Scan and poll have connections of their own, and a step is a thousand keys: nothing to queue behind."""
    add_streams(server, "orders")
    add_keys(server, 12 * KEYS_PER_STEP)
    async with await Console.open(server.options, Watch(("orders", "x*"))) as console:
        console.start_discovery()
        scanned = []
        while not console.discovery.complete:
            snapshot = await console.collect()
            assert [stream.name for stream in snapshot.streams] == ["orders"]
            scanned.append(console.discovery.scanned)
    # Several polls between two steps, and never one that had to wait for many.
    assert len(scanned) > 4
    assert max(after - before for before, after in pairwise(scanned)) <= 3 * KEYS_PER_STEP


async def test_scan_that_is_denied(server: RunningServer) -> None:
    add_streams(server, "orders")
    server.command("ACL", "SETUSER", "blind", "reset", "on", ">right", "~*", "+@all", "-scan")
    options = replace(server.options, username="blind", password=Secret("right"))
    try:
        async with await Console.open(options, Watch(("orders", "o*"))) as console:
            with pytest.raises(Refused, match="no permission for SCAN"):
                await console.discover()
            console.start_discovery()
            await eventually(lambda: bool(console.discovery.problem))
            snapshot = await console.collect()
            assert [stream.name for stream in snapshot.streams] == ["orders"]
            (gap,) = snapshot.gaps
            assert gap.part == "discovery"
            assert "no permission for SCAN" in gap.reason
            assert (await console.collect(["orders"])).gaps == ()
            # What failed is tried again long before the next pass would be due.
            server.command("ACL", "SETUSER", "blind", "+scan")
            await eventually(lambda: not console.discovery.problem)
            assert (await console.collect()).gaps == ()
    finally:
        server.command("ACL", "DELUSER", "blind")


async def test_a_discovery_fails_while_the_server_hangs_and_goes_on_after(server: RunningServer) -> None:
    options = replace(server.options, timeout=timedelta(seconds=0.2))
    async with await Console.open(options) as console:
        server.pause()
        try:
            with pytest.raises(Unreachable):
                await console.discover()
        finally:
            server.resume()
        await console.discover()
        assert console.discovery.complete


async def test_closing_ends_the_background_scan(server: RunningServer) -> None:
    console = await Console.open(server.options)
    console.start_discovery()
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) > 1
    await console.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_pauses_grow_and_have_an_end_however_long_it_fails() -> None:
    pauses = [pause_after(failures) for failures in (0, 1, 2, 3, 4, 5, 6, 7, 5_000)]
    assert pauses == [30, 1, 2, 4, 8, 16, 30, 30, 30]
