"""What a user may not do costs just that: the reader steps down, and what stays unread is a gap with a reason."""

import pytest
from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.model.streams import StreamReading
from streamops.monitor.collect import Collector
from streamops.monitor.watch import Watch
from streamops.wire.options import Secret
from streamops.wire.server import Server
from streamops.wire.stream_reader import SCRIPTED, Depth, StreamReader
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.ladder import NO_SCRIPTS, STREAMS, add_two_streams_three_groups, essence, is_old


async def test_what_is_permitted_again_is_read_again(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamops.wire.stream_reader.LOOK_AGAIN", 0.0)
    add_two_streams_three_groups(server)
    server.command("ACL", "SETUSER", "changing", "reset", "on", "nopass", "~*", "+@all")
    connection = await Server.connect(replace(server.options, username="changing", password=Secret("any")))
    collector = Collector(connection, Watch())
    try:
        whole = await collector.collect(STREAMS, discovered=2, complete=True)
        server.command("ACL", "SETUSER", "changing", *NO_SCRIPTS, "-xinfo|stream")
        less = await collector.collect(STREAMS, discovered=2, complete=True)
        reached = [collector._reader.depth]
        assert {gap.reason for gap in less.gaps} == {"no permission for XINFO STREAM"}
        server.command("ACL", "SETUSER", "changing", "+xinfo")
        assert (await collector.collect(STREAMS, discovered=2, complete=True)).gaps == ()
        reached.append(collector._reader.depth)
        server.command("ACL", "SETUSER", "changing", "+@all")
        again = await collector.collect(STREAMS, discovered=2, complete=True)
        reached.append(collector._reader.depth)
        assert reached == [Depth.GROUPS, Depth.TRANSACTION, Depth.READ_ONLY_SCRIPT]
        assert essence(again) == essence(whole)
    finally:
        await connection.close()
        server.command("ACL", "DELUSER", "changing")


@pytest.mark.parametrize("rules", [("-multi",), ("-exec",), ("-multi", "-xinfo|stream")])
async def test_more_groups_than_a_script_reads_are_read_without_transactions(
    server: RunningServer, as_user: SetUser, rules: tuple[str, ...]
) -> None:
    if is_old(server) and len(rules) > 1:
        pytest.skip("no subcommand can be denied here")
    server.command("XADD", "orders", "1-1", "n", 1)
    pipeline = server.client.pipeline(transaction=False)
    for number in range(1_001):
        pipeline.xgroup_create("orders", f"g{number}", "0")
    pipeline.execute()
    reader = StreamReader(await Server.connect(as_user("~*", "+@all", *rules)))
    try:
        (reading,) = (await reader.read(["orders"])).streams
        again = (await reader.read(["orders"])).streams
    finally:
        await reader._server.close()
    assert isinstance(reading, StreamReading)
    assert (reading.length, len(reading.groups)) == (1, 1_001)
    assert reading.bounds_read is (len(rules) == 1)
    assert again == [reading]
    # One stream that scripts leave to others says nothing of the rest.
    assert reader.depth in SCRIPTED


async def test_streams_of_large_entries_are_read_afresh_where_xrange_is_denied(
    server: RunningServer, as_user: SetUser
) -> None:
    """Streams with large entries are recognised by empty ranges: where those are denied they are read afresh."""
    connection = await Server.connect(as_user("~*", "+@all", "-xrange"))
    collector = Collector(connection, Watch())
    for number in range(1, 5):
        server.command("XADD", "orders", "MAXLEN", "=", 1, f"{number}-1", "n", "x" * 10_000)
        snapshot = await collector.collect(["orders"], discovered=1, complete=True)
        (stream,) = snapshot.streams
        assert (stream.length, stream.entry_bytes) == (1, 10_001)
        assert stream.first_id == stream.last_id == EntryId(number, 1)
    await connection.close()
    assert collector._reader.depth in SCRIPTED
