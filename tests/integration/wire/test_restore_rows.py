"""Giving rows back: those that lie together at once, and the same of each as if it were alone."""

import pytest

from streamops.errors import Refused
from streamops.model.entries import EntryId
from streamops.model.pending import PendingChange
from streamops.wire.reads import read_clock
from streamops.wire.server import Server
from streamops.wire.writes.audit import restore_rows
from tests.support.servers import RunningServer
from tests.support.wire.fixtures import SetUser
from tests.support.wire.restore_rows import deliver, restored, then


async def test_rows_of_others_between_them_stay_as_they_are(connected: Server, server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "orders", "g", "0", "MKSTREAM")
    for number in range(1, 31):
        deliver(server, "rescuer" if number % 3 == 0 else "other", number)
    server.command("XACK", "orders", "g", "9-0", "30-0")
    rows = [then(number, "a" if number < 20 else "b") for number in range(3, 31, 3)]
    expected = ["gone" if one.id.ms in {9, 30} else "restored" for one in rows]
    assert await restored(connected, *rows, writes=False) == expected
    assert await restored(connected, *rows) == expected
    owners = {row[0]: row[1] for row in server.command("XPENDING", "orders", "g", "-", "+", 100)}
    for number in set(range(1, 30)) - {9}:
        owner = b"other" if number % 3 else b"a" if number < 20 else b"b"
        assert owners[b"%d-0" % number] == owner


async def test_a_row_named_twice_is_given_back_once(connected: Server, server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", "orders", "g", "0", "MKSTREAM")
    deliver(server, "rescuer", 1, 2, 3)
    rows = [then(3, "a"), then(1, "a"), then(1, "a"), then(2, "a"), then(3, "b")]
    assert await restored(connected, *rows) == ["restored", "restored", "owner", "restored", "owner"]
    rows_now = server.command("XPENDING", "orders", "g", "-", "+", 10)
    assert [row[1] for row in rows_now] == [b"a", b"a", b"a"]
    assert all(abs(row[2] - 60_000) < 30_000 for row in rows_now)


async def test_who_may_not_be_told_of_groups_is_denied_it_in_the_words_of_the_server(
    server: RunningServer, as_user: SetUser
) -> None:
    server.command("XGROUP", "CREATE", "orders", "g", "0", "MKSTREAM")
    deliver(server, "rescuer", 1)
    connection = await Server.connect(as_user("~*", "+@all", "-xinfo"))
    try:
        at = await read_clock(connection, "orders")
        assert at is not None
        with pytest.raises(Refused):
            await restore_rows(
                connection,
                "orders",
                "g",
                [then(1, "a")],
                done=PendingChange.CLAIMED,
                holder="rescuer",
                at=at,
                position=EntryId(1, 0),
                writes=True,
            )
    finally:
        await connection.close()
