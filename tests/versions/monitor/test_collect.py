"""A collection costs what it should, and what it cannot read it says."""

import pytest
from msgspec.structs import replace

from streamops.operations.console import Console
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


async def test_streams_and_groups_named_by_any_bytes_are_collected(server: RunningServer) -> None:
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
