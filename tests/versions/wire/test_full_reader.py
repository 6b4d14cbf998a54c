"""Streams read by XINFO STREAM FULL: the same as by the script, where that is the cheaper way, and only there."""

import pytest

from streamops.model.streams import StreamReading
from tests.support.servers import RunningServer
from tests.support.wire.deep_readings import PARTS, add_six_entries_two_groups, essence, milliseconds, reading
from tests.support.wire.fixtures import SetUser

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_a_full_read_tells_the_same_as_a_script(server: RunningServer) -> None:
    names = ["orders", "wörk", "empty"]
    for name in names:
        add_six_entries_two_groups(server, name)
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
    told = busy.members.sightings
    assert (told.names, told.pending) == (("a", "b"), (2, 2))
    now = milliseconds(second.now)
    assert all(when is not None and now - 60_000 < when <= now for when in told.delivered)


async def test_what_a_consumer_has_had_for_longest(server: RunningServer) -> None:
    add_six_entries_two_groups(server, "orders", consumers=("a",))
    (first, _), *_ = server.command("XPENDING", "orders", "busy", "-", "+", 10)[0][:2], None
    server.command("XCLAIM", "orders", "busy", "a", 0, first, "IDLE", 90_000)
    async with reading(server.options) as (full, _):
        await full.read(["orders"])
        readings = await full.read(["orders"])
    (stream,) = readings.streams
    assert isinstance(stream, StreamReading)
    assert stream.groups[0].members is not None
    (delivered,) = stream.groups[0].members.sightings.delivered
    assert delivered is not None
    assert 90_000 <= milliseconds(readings.now) - delivered < 150_000


async def test_without_permission_the_ladder_is_gone_down(server: RunningServer, as_user: SetUser) -> None:
    if server.label == "redis-6.2":
        pytest.skip("no subcommand can be denied here")
    add_six_entries_two_groups(server, "orders")
    async with reading(as_user("~*", "+@all", "-xinfo|stream")) as (full, _):
        for _ in PARTS:
            (stream,) = (await full.read(["orders"])).streams
            assert isinstance(stream, StreamReading)
            assert stream.length == 6
            assert not stream.bounds_read
