"""What a user may not do costs just that: the reader steps down, and what stays unread is a gap with a reason."""

import pytest
from msgspec.structs import replace

from streamops.operate.collect import Collector
from streamops.operate.watch import Watch
from streamops.wire.options import Secret
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.support.servers import RunningServer
from tests.support.wire.ladder import NO_SCRIPTS, STREAMS, essence, fill


async def test_what_is_permitted_again_is_read_again(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamops.wire.stream_reader.LOOK_AGAIN", 0.0)
    fill(server)
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
