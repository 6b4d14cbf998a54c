"""Streams read by XINFO STREAM FULL: the same as by the script, where that is the cheaper way, and only there."""

import asyncio

import pytest

from streamops.model.readings import StreamReading
from streamops.wire import full_reader, stream_reader
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.full_reader import LIGHT_BYTES, MAX_CONSUMERS
from streamops.wire.stream_reader import Readings
from tests.support.servers import RunningServer
from tests.support.wire.deep_readings import essence, fill, milliseconds, reading
from tests.support.wire.fixtures import SetUser

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


PARTS = (1, 2, 3)
SOON = 0.3
"""Seconds after which what was denied is tried again."""


async def test_both_ways_tell_the_same(server: RunningServer) -> None:
    names = ["orders", "wörk", "empty"]
    for name in names:
        fill(server, name)
    server.command("XTRIM", "empty", "MAXLEN", 0)
    async with reading(server.options) as (full, plain):
        first = await full.read(names)
        second = await full.read(names)
        script = await plain.read(names)
    assert [found.last_id is None for found in first.streams if isinstance(found, StreamReading)] == [
        *(False, False, True)
    ]
    assert all(found.last_id is None for found in second.streams if isinstance(found, StreamReading))
    assert list(map(essence, second.streams)) == list(map(essence, script.streams))
    busy = second.streams[0].groups[0] if isinstance(second.streams[0], StreamReading) else None
    assert busy is not None
    assert busy.members is not None
    assert (busy.members.names, busy.members.pending) == (("a", "b"), (2, 2))
    now = milliseconds(second.now)
    assert all(when is not None and now - 60_000 < when <= now for when in busy.members.delivered)


async def test_what_stands_still_is_the_same_reading_until_it_moves(server: RunningServer) -> None:
    for name in ("still", "moving"):
        fill(server, name)
    async with reading(server.options) as (full, _):
        await full.read(["still", "moving"])
        first = (await full.read(["still", "moving"])).streams
        server.command("XREADGROUP", "GROUP", "busy", "a", "COUNT", 1, "STREAMS", "moving", ">")
        second = (await full.read(["still", "moving"])).streams
    assert second[0] is first[0]
    assert second[1] != first[1]
    assert isinstance(second[1], StreamReading)
    assert second[1].groups[0].pending == 5


async def test_what_a_consumer_has_had_for_longest(server: RunningServer) -> None:
    fill(server, "orders", consumers=("a",))
    (first, _), *_ = server.command("XPENDING", "orders", "busy", "-", "+", 10)[0][:2], None
    server.command("XCLAIM", "orders", "busy", "a", 0, first, "IDLE", 90_000)
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        readings = await full.read(["orders"])
    (stream,) = readings.streams
    assert isinstance(stream, StreamReading)
    assert stream.groups[0].members is not None
    (delivered,) = stream.groups[0].members.delivered
    assert delivered is not None
    assert 90_000 <= milliseconds(readings.now) - delivered < 150_000


@pytest.mark.parametrize("why", ["large entries", "many consumers"])
async def test_heavy_streams_are_left_to_the_script(server: RunningServer, why: str) -> None:
    if why == "large entries":
        fill(server, "heavy", size=LIGHT_BYTES + 1)
    else:
        fill(server, "heavy", consumers=[f"c{number}" for number in range(MAX_CONSUMERS + 1)])
    async with reading(server.options) as (full, _):
        for _ in PARTS:
            (stream,) = (await full.read(["heavy"])).streams
            assert isinstance(stream, StreamReading)
            # FULL does not tell the last one.
            assert stream.last_id is not None


async def test_one_that_becomes_heavy_is_read_in_full_once_more(server: RunningServer) -> None:
    fill(server, "orders")
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        server.command("XADD", "orders", "MAXLEN", 1, "*", "n", "x" * (LIGHT_BYTES + 1))
        ways = []
        for _ in PARTS:
            (stream,) = (await full.read(["orders"])).streams
            ways.append(isinstance(stream, StreamReading) and stream.last_id is None)
    assert ways == [True, False, False]


async def test_one_that_is_shunned_goes_back_to_the_script(server: RunningServer) -> None:
    fill(server, "orders")
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        full.shun("orders")
        (stream,) = (await full.read(["orders"])).streams
    assert isinstance(stream, StreamReading)
    assert stream.last_id is not None


async def test_what_is_no_stream_any_more(server: RunningServer) -> None:
    for name in ("gone", "other", "stays"):
        fill(server, name)
    async with reading(server.options) as (full, _):
        await full.read(["gone", "other", "stays"])
        server.command("DEL", "gone", "other")
        server.command("SET", "other", "text")
        found = (await full.read(["gone", "stays", "other"])).streams
        again = (await full.read(["gone", "stays", "other"])).streams
    for gone, stays, other in (found, again):
        assert isinstance(gone, Fault)
        assert gone.kind is FaultKind.MISSING
        assert isinstance(stays, StreamReading)
        assert isinstance(other, Fault)
        assert other.kind is FaultKind.WRONG_TYPE


async def test_new_ones_among_known_ones_keep_their_order(server: RunningServer) -> None:
    for name in ("a", "c"):
        fill(server, name)
    async with reading(server.options) as (full, _):
        await full.read(["a", "c"])
        fill(server, "b")
        readings: Readings = await full.read(["a", "b", "c"])
    assert [found.name for found in readings.streams if isinstance(found, StreamReading)] == ["a", "b", "c"]
    assert all(at is not None for at in readings.times)


async def test_without_permission_the_ladder_is_gone_down(server: RunningServer, as_user: SetUser) -> None:
    if server.label == "redis-6.2":
        pytest.skip("no subcommand can be denied here")
    fill(server, "orders")
    async with reading(as_user("~*", "+@all", "-xinfo|stream")) as (full, _):
        for _ in PARTS:
            (stream,) = (await full.read(["orders"])).streams
            assert isinstance(stream, StreamReading)
            assert stream.length == 6
            assert not stream.bounds_read


async def test_permission_lost_on_the_way_and_given_back(
    server: RunningServer, as_user: SetUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_reader, "LOOK_AGAIN", SOON)
    monkeypatch.setattr(full_reader, "TRY_AGAIN", SOON)
    if server.label == "redis-6.2":
        pytest.skip("no subcommand can be denied here")
    fill(server, "orders")
    options = as_user("~*", "+@all")
    async with reading(options) as (full, _):
        await full.read(["orders"])
        assert options.username is not None
        server.command("ACL", "SETUSER", options.username, "-xinfo|stream")
        (stream,) = (await full.read(["orders"])).streams
        assert isinstance(stream, StreamReading)
        assert stream.length == 6
        assert stream.groups[0].members is None
        server.command("ACL", "SETUSER", options.username, "+xinfo|stream")
        async with asyncio.timeout(30):
            while stream.groups[0].members is None:
                await asyncio.sleep(SOON)
                (stream,) = (await full.read(["orders"])).streams
                assert isinstance(stream, StreamReading)


async def test_a_key_that_may_not_be_read_is_no_reason_to_step_down(
    server: RunningServer, as_user: SetUser
) -> None:
    fill(server, "mine")
    fill(server, "theirs")
    async with reading(as_user("~mine", "+@all")) as (full, _):
        for _ in PARTS:
            mine, theirs = (await full.read(["mine", "theirs"])).streams
            assert isinstance(theirs, Fault)
            assert theirs.kind is FaultKind.DENIED
    assert isinstance(mine, StreamReading)
    assert mine.groups[0].members is not None


async def test_without_a_clock_there_are_no_ages(server: RunningServer, as_user: SetUser) -> None:
    fill(server, "orders")
    async with reading(as_user("~*", "+@all", "-time", "-info")) as (full, _):
        await full.read(["orders"])
        (stream,) = (await full.read(["orders"])).streams
    assert isinstance(stream, StreamReading)
    assert stream.groups[0].members is None
    assert stream.groups[0].oldest_pending is None
    assert stream.groups[0].oldest_delivery is None
    assert stream.groups[0].pending == 4
