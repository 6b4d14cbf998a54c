from datetime import timedelta

import pytest

from streamops.demo.client import DemoClient
from streamops.demo.dump import backdate_seen, crc64
from tests.support.servers import RunningServer


def test_crc64_of_the_test_vector_in_the_servers_source() -> None:
    assert crc64(b"123456789") == 0xE9C6D914C4B8D9CA


async def test_consumer_looks_unseen_and_nothing_else_changes(
    server: RunningServer, client: DemoClient
) -> None:
    for number in range(1, 4):
        server.command("XADD", "orders", f"{number}-0", "field", "value")
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "alive", "COUNT", "1", "STREAMS", "orders", ">")
    server.command("XREADGROUP", "GROUP", "billing", "dead", "COUNT", "1", "STREAMS", "orders", ">")
    entries, groups = (
        server.command("XRANGE", "orders", "-", "+"),
        server.command("XINFO", "GROUPS", "orders"),
    )

    await client.backdate_consumer("orders", "dead", timedelta(hours=1))

    consumers = {row["name"]: row for row in server.client.xinfo_consumers("orders", "billing")}
    assert 3_600_000 <= consumers[b"dead"]["idle"] < 3_700_000
    assert consumers[b"alive"]["idle"] < 100_000
    assert consumers[b"dead"]["pending"] == consumers[b"alive"]["pending"] == 1
    assert server.command("XRANGE", "orders", "-", "+") == entries
    assert server.command("XINFO", "GROUPS", "orders") == groups


def test_unknown_consumer_is_refused(server: RunningServer) -> None:
    server.command("XADD", "orders", "1-0", "field", "value")
    with pytest.raises(ValueError, match="nobody"):
        backdate_seen(server.command("DUMP", "orders"), "nobody", timedelta(hours=1))
