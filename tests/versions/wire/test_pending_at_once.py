"""A pending list at one instant: all of it by consumer, and what came after a row."""

import pytest

from streamops.model.entries import EntryId
from streamops.wire.pending import PendingRange, read_pending_at_once
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.streams import add_counting, deliver
from tests.support.wire.fixtures import SetUser

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


PAGE = PendingRange("orders", "billing", EntryId(3, 0), 2)


def add_six_entries_five_pending(server: RunningServer) -> None:
    add_counting(server, "orders", 1, 6)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    for consumer, count in (("a", 4), ("b", 1)):
        deliver(server, "orders", "billing", consumer, count)


async def test_owners_and_rows_are_of_one_instant(server: RunningServer) -> None:
    connected = await Server.connect(server.options)
    try:
        add_six_entries_five_pending(server)
        told = await read_pending_at_once(connected, PAGE)
        assert told is not None
        assert told[0] == {"a": 4, "b": 1}
        assert [(row.id, row.consumer) for row in told[1]] == [(EntryId(4, 0), "a"), (EntryId(5, 0), "b")]
        server.command("XACK", "orders", "billing", *(f"{number}-0" for number in range(1, 6)))
        assert await read_pending_at_once(connected, PAGE) == ({}, ())
        assert await read_pending_at_once(connected, PAGE._replace(group="none")) is None
    finally:
        await connected.close()


async def test_who_may_not_ask_for_both_together_is_not_told(server: RunningServer, as_user: SetUser) -> None:
    add_six_entries_five_pending(server)
    connected = await Server.connect(as_user("~*", "+@all", "-multi"))
    try:
        assert await read_pending_at_once(connected, PAGE) is None
    finally:
        await connected.close()
