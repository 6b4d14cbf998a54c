"""Streams read by XINFO STREAM FULL: the same as by the script, where that is the cheaper way, and only there."""

import asyncio

import pytest

from streamops.errors import UnexpectedReply
from streamops.model.streams import StreamReading
from streamops.wire import full_reader, stream_reader
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.full_reader import LIGHT_BYTES, MAX_CONSUMERS, FullDecoder
from streamops.wire.stream_reader import Readings
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.deep_readings import PARTS, add_six_entries_two_groups, reading
from tests.support.wire.fixtures import SetUser


async def test_those_that_are_watched_no_more_are_forgotten(server: RunningServer) -> None:
    names = ["orders", "payments"]
    for name in names:
        add_six_entries_two_groups(server, name)
    async with reading(server.options) as (full, _):
        await full.read(names)
        full.forget_all_but(["orders"])
        first, second = (await full.read(names)).streams
    assert isinstance(first, StreamReading)
    assert isinstance(second, StreamReading)
    # The script tells of the last entry too.
    assert (first.last_id is None, second.last_id is None) == (True, False)


def test_a_field_that_is_missing_is_told() -> None:
    decoder = FullDecoder()
    with pytest.raises(UnexpectedReply, match="XINFO STREAM FULL has no field 'groups'"):
        decoder.decode("orders", [b"length", 0, b"entries", [], b"last-generated-id", b"0-0"])


async def test_ways_of_reading_that_met_different_servers_make_no_reading(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the pass of light streams and that of the others another server takes over: all are read anew."""
    server = start_server("--enable-debug-command", "yes")
    add_six_entries_two_groups(server, "light")
    add_six_entries_two_groups(server, "heavy", size=LIGHT_BYTES + 1)
    async with reading(server.options) as (full, plain):
        await full.read(["light", "heavy"])
        by_script: list[list[str]] = []
        read = plain.read

        async def read_another(names: list[str]) -> Readings:
            if not by_script:
                server.command("DEBUG", "CHANGE-REPL-ID")
                server.command("XADD", "light", "*", "n", "x")
            by_script.append(names)
            return await read(names)

        monkeypatch.setattr(plain, "read", read_another)
        found = await full.read(["light", "heavy"])
    assert (by_script[0], by_script[-1]) == (["heavy"], ["light", "heavy"])
    assert [one.length for one in found.streams if isinstance(one, StreamReading)] == [7, 6]


SOON = 0.3


"""Seconds after which what was denied is tried again."""


@pytest.mark.parametrize("why", ["large entries", "many consumers"])
async def test_heavy_streams_are_left_to_the_script(server: RunningServer, why: str) -> None:
    if why == "large entries":
        add_six_entries_two_groups(server, "heavy", size=LIGHT_BYTES + 1)
    else:
        add_six_entries_two_groups(
            server, "heavy", consumers=[f"c{number}" for number in range(MAX_CONSUMERS + 1)]
        )
    async with reading(server.options) as (full, _):
        for _ in PARTS:
            (stream,) = (await full.read(["heavy"])).streams
            assert isinstance(stream, StreamReading)
            # FULL does not tell the last one.
            assert stream.last_id is not None


async def test_one_that_becomes_heavy_is_read_in_full_once_more(server: RunningServer) -> None:
    add_six_entries_two_groups(server, "orders")
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        server.command("XADD", "orders", "MAXLEN", 1, "*", "n", "x" * (LIGHT_BYTES + 1))
        ways = []
        for _ in PARTS:
            (stream,) = (await full.read(["orders"])).streams
            ways.append(isinstance(stream, StreamReading) and stream.last_id is None)
    assert ways == [True, False, False]


async def test_one_that_is_shunned_goes_back_to_the_script(server: RunningServer) -> None:
    add_six_entries_two_groups(server, "orders")
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        full.shun("orders")
        (stream,) = (await full.read(["orders"])).streams
    assert isinstance(stream, StreamReading)
    assert stream.last_id is not None


async def test_a_name_that_is_no_stream_any_more_is_told(server: RunningServer) -> None:
    for name in ("gone", "other", "stays"):
        add_six_entries_two_groups(server, name)
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
        add_six_entries_two_groups(server, name)
    async with reading(server.options) as (full, _):
        await full.read(["a", "c"])
        add_six_entries_two_groups(server, "b")
        readings: Readings = await full.read(["a", "b", "c"])
    assert [found.name for found in readings.streams if isinstance(found, StreamReading)] == ["a", "b", "c"]
    assert all(at is not None for at in readings.times)


async def test_permission_lost_on_the_way_and_given_back(
    server: RunningServer, as_user: SetUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_reader, "LOOK_AGAIN", SOON)
    monkeypatch.setattr(full_reader, "TRY_AGAIN", SOON)
    if server.label == "redis-6.2":
        pytest.skip("no subcommand can be denied here")
    add_six_entries_two_groups(server, "orders")
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
    add_six_entries_two_groups(server, "mine")
    add_six_entries_two_groups(server, "theirs")
    async with reading(as_user("~mine", "+@all")) as (full, _):
        for _ in PARTS:
            mine, theirs = (await full.read(["mine", "theirs"])).streams
            assert isinstance(theirs, Fault)
            assert theirs.kind is FaultKind.DENIED
    assert isinstance(mine, StreamReading)
    assert mine.groups[0].members is not None


async def test_without_a_clock_there_are_no_ages(server: RunningServer, as_user: SetUser) -> None:
    add_six_entries_two_groups(server, "orders")
    async with reading(as_user("~*", "+@all", "-time", "-info")) as (full, _):
        await full.read(["orders"])
        (stream,) = (await full.read(["orders"])).streams
    assert isinstance(stream, StreamReading)
    assert stream.groups[0].members is None
    assert stream.groups[0].oldest_pending is None
    assert stream.groups[0].pending == 4
