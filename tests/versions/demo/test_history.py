from datetime import timedelta
from random import Random

import pytest

from streamops.demo.client import DemoClient
from streamops.demo.history import write_history
from streamops.demo.sources import AUDIT, EMAILS, INVENTORY, ORDERS, PAYMENTS, SOURCES
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("the demo runs on whatever server there is")


async def test_history_tells_every_story(server: RunningServer, client: DemoClient) -> None:
    await write_history(client, Random(7))

    def waiting(stream: str, group: str) -> int:
        """Entries after the group's position, counted, since 6.2 reports no lag."""
        position = next(row for row in server.client.xinfo_groups(stream) if row["name"] == group.encode())
        start = b"(" + position["last-delivered-id"]
        return len(server.command("XRANGE", stream, start, "+"))

    def pending(stream: str, group: str) -> list[tuple[bytes, int, int]]:
        rows = server.command("XPENDING", stream, group, "-", "+", "1000")
        return [(consumer, idle, deliveries) for _, consumer, idle, deliveries in rows]

    assert {source.stream: server.command("XLEN", source.stream) for source in SOURCES} == {
        source.stream: source.past_entries for source in SOURCES
    }
    assert (waiting(ORDERS.stream, "billing"), pending(ORDERS.stream, "billing")) == (0, [])
    assert waiting(ORDERS.stream, "shipping") == 350
    assert waiting(ORDERS.stream, "analytics") == 400
    assert [(consumer, times) for consumer, _, times in pending(ORDERS.stream, "fraud")] == [(b"fraud-1", 11)]
    assert waiting(AUDIT.stream, "archiver") == AUDIT.past_entries
    assert server.command("XINFO", "CONSUMERS", AUDIT.stream, "archiver") == []
    assert (waiting(INVENTORY.stream, "warehouse"), waiting(EMAILS.stream, "mailer")) == (0, 0)

    left = pending(PAYMENTS.stream, "ledger")
    assert len(left) == 37
    assert {consumer for consumer, _, _ in left} == {b"ledger-2"}
    assert min(idle for _, idle, _ in left) >= timedelta(minutes=17) / timedelta(milliseconds=1)
    unseen = {row["name"]: row["idle"] for row in server.client.xinfo_consumers(PAYMENTS.stream, "ledger")}
    assert unseen[b"ledger-2"] >= timedelta(minutes=17) / timedelta(milliseconds=1)
    assert unseen[b"ledger-1"] < timedelta(minutes=1) / timedelta(milliseconds=1)

    reasons = [
        fields[fields.index(b"_so_reason") + 1]
        for queue in ("{orders:events}:dlq", "{payments:events}:dlq")
        for _, fields in server.command("XRANGE", queue, "-", "+")
    ]
    assert len(reasons) == 10
    assert set(reasons) == {b"max-deliveries", b"rejected", b"timeout", b"undecodable"}
