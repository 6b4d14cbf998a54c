"""Streams with more groups than a script can read within its time."""

from collections.abc import Awaitable
from datetime import timedelta
from functools import partial

import pytest

from streamops.errors import StalePlan
from streamops.model.entries import ZERO_ID, EntryId
from streamops.model.streams import StreamReading
from streamops.monitor.watch import Watch
from streamops.operations import planning
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader
from streamops.wire.writes.entries import TrimFloor, TrimMode, trim_safely, trim_to
from streamops.wire.writes.groups import create_group, destroy_group, empty_group, remove_consumer
from tests.support.servers import RunningServer
from tests.support.wire.many_groups import MAKE, MOST, make, patient


async def test_a_stream_with_large_entries_that_becomes_crowded_is_read_on(server: RunningServer) -> None:
    make(server, "s", 1)
    server.command("XADD", "s", "*", "body", "x" * 10_000)
    connected = await Server.connect(patient(server))
    try:
        reader = StreamReader(connected)
        (before,) = (await reader.read(["s"])).streams
        server.command(
            "EVAL", MAKE.replace("for each = 1, 3", "for each = 1, 0").replace("'g'", "'h'"), 1, "s", MOST
        )
        (after,) = (await reader.read(["s"])).streams
    finally:
        await connected.close()
    assert isinstance(before, StreamReading)
    assert isinstance(after, StreamReading)
    assert (len(before.groups), len(after.groups)) == (1, MOST + 1)


async def test_a_crowded_stream_is_collected_whole(server: RunningServer) -> None:
    make(server, "crowded", MOST + 1)
    async with await Console.open(patient(server), Watch(deep=True)) as console:
        for _ in range(2):
            (view,) = (await console.observe(["crowded"])).streams
            assert len(view.groups) == MOST + 1
            assert {view.group.lag.entries for view in view.groups} == {2}
            assert all(view.group.oldest_pending is not None for view in view.groups)


async def test_a_script_asks_for_the_groups_once(server: RunningServer) -> None:
    make(server, "s", 3)
    at = EntryId(1, 0)
    how = TrimMode(100, exact=True)
    connected = await Server.connect(patient(server))
    try:
        asked = partial(asked_for_groups, server)
        assert (
            await asked(create_group(connected, "s", "new", at="0", entries_read=None, mkstream=False)) == 0
        )
        assert await asked(remove_consumer(connected, "s", "new", "nobody", floor=None)) == 0
        assert await asked(remove_consumer(connected, "s", "new", "nobody", floor=ZERO_ID)) == 1
        assert await asked(empty_group(connected, "s", "g1", [at], position=at, most=1)) == 1
        assert await asked(destroy_group(connected, "s", "g1", position=at, most=0)) == 1
        assert await asked(trim_safely(connected, "s", 0, how)) == 1
        assert await asked(trim_to(connected, "s", TrimFloor(at, 0, positions(server)), how)) == 1
    finally:
        await connected.close()


async def asked_for_groups(server: RunningServer, act: Awaitable[object]) -> int:
    """How often groups were asked for while something was done that went well."""
    server.command("CONFIG", "RESETSTAT")
    await act
    told = server.client.info("commandstats")
    return sum(told[name]["calls"] for name in ("cmdstat_xinfo", "cmdstat_xinfo|groups") if name in told)


def positions(server: RunningServer) -> tuple[tuple[str, EntryId], ...]:
    rows = server.client.xinfo_groups("s")
    return tuple((row["name"].decode(), EntryId.parse(row["last-delivered-id"])) for row in rows)


async def test_a_group_that_is_gone_is_drift_without_a_position_too(server: RunningServer) -> None:
    make(server, "s", 1)
    connected = await Server.connect(patient(server))
    try:
        for stream, group in (("s", "none"), ("none", "g1")):
            with pytest.raises(StalePlan, match="the group is gone"):
                await remove_consumer(connected, stream, group, "worker", floor=None)
    finally:
        await connected.close()


async def test_a_plan_tells_for_how_long_a_crowd_holds_the_server(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "LONG", 1)
    make(server, "crowded", MOST + 1)
    make(server, "few", 1)
    told = (
        "The stream has 1,001 groups, and each step looks at all of them: it holds the server for about 1 ms."
    )
    async with await Console.open(patient(server)) as console:

        async def warnings(stream: str, to: str) -> tuple[str, ...]:
            intent = ClaimIntent(stream=stream, group="g1", to=to, min_idle=timedelta(0))
            return (await console.prepare(intent)).plan.warnings

        assert told in await warnings("crowded", "rescuer")
        # There is nothing to be done.
        assert told not in await warnings("crowded", "worker")
        assert not any("groups" in warning for warning in await warnings("few", "rescuer"))


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


async def test_no_script_reads_the_groups_of_a_crowded_stream(server: RunningServer) -> None:
    make(server, "crowded", MOST + 1)
    server.command("CONFIG", "RESETSTAT")
    (crowded,) = await read(server, "crowded")
    told = server.client.info("commandstats")
    assert told["cmdstat_xinfo|groups" if "cmdstat_xinfo|groups" in told else "cmdstat_xinfo"]["calls"] <= 3
    assert len(crowded.groups) == MOST + 1
    # One for each group, all of them sent by the client: the script gave way before the first.
    assert told["cmdstat_xpending"]["calls"] == MOST + 1
