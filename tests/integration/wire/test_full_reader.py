"""Streams read by XINFO STREAM FULL: the same as by the script, where that is the cheaper way, and only there."""

import pytest
from msgspec.structs import replace

from streamops.errors import UnexpectedReply
from streamops.model.readings import StreamReading
from streamops.wire.full_reader import LIGHT_BYTES
from streamops.wire.full_replies import FullDecoder
from streamops.wire.stream_reader import Readings
from tests.support.servers import RunningServer, StartServer
from tests.support.wire.deep_readings import fill, reading


async def test_what_was_added_to_a_reading_holds_until_it_moves(server: RunningServer) -> None:
    fill(server, "orders")
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        (told,) = (await full.read(["orders"])).streams
        assert isinstance(told, StreamReading)
        more = replace(told, groups=tuple(replace(group, head_read=True) for group in told.groups))
        full.keep([told], [more])
        assert (await full.read(["orders"])).streams == [more]
        server.command("XADD", "orders", "*", "n", "x")
        (moved,) = (await full.read(["orders"])).streams
    assert isinstance(moved, StreamReading)
    assert not any(group.head_read for group in moved.groups)


async def test_what_was_added_to_a_reading_is_not_of_another_server(start_server: StartServer) -> None:
    """Its reply may be the same to the byte; what comes after a position may be not."""
    server = start_server("--enable-debug-command", "yes")
    fill(server, "orders")
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        (told,) = (await full.read(["orders"])).streams
        assert isinstance(told, StreamReading)
        more = replace(told, groups=tuple(replace(group, head_read=True) for group in told.groups))
        full.keep([told], [more])
        server.command("DEBUG", "CHANGE-REPL-ID")
        assert (await full.read(["orders"])).streams == [told]


async def test_ages_that_the_script_told_are_not_kept(server: RunningServer) -> None:
    fill(server, "orders")
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        first = (await full.read(["orders"])).streams
        full.shun("orders")
        (scripted,) = (await full.read(["orders"])).streams
        assert isinstance(scripted, StreamReading)
        full.keep([scripted], [replace(scripted, length=99)])
        assert (await full.read(["orders"])).streams == first


async def test_those_that_are_watched_no_more_are_forgotten(server: RunningServer) -> None:
    names = ["orders", "payments"]
    for name in names:
        fill(server, name)
    async with reading(server.options) as (full, _):
        await full.read(names)
        full.forget_all_but(["orders"])
        first, second = (await full.read(names)).streams
    assert isinstance(first, StreamReading)
    assert isinstance(second, StreamReading)
    # The script tells of the last entry too.
    assert (first.last_id is None, second.last_id is None) == (True, False)


def test_a_field_that_is_missing_is_told() -> None:
    decoder = FullDecoder({}, {})
    with pytest.raises(UnexpectedReply, match="XINFO STREAM FULL has no field 'groups'"):
        decoder.decode("orders", [b"length", 0, b"entries", [], b"last-generated-id", b"0-0"])


async def test_ways_of_reading_that_met_different_servers_make_no_reading(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the pass of light streams and that of the others another server takes over: all are read anew."""
    server = start_server("--enable-debug-command", "yes")
    fill(server, "light")
    fill(server, "heavy", size=LIGHT_BYTES + 1)
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
