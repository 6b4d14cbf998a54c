from typing import Any

import redis

from streamops.demo.running import running_demo
from streamops.demo.sources import ORDERS
from tests.support.eventually import eventually


def group_of(client: redis.Redis, name: bytes) -> dict[str, Any]:
    return next(row for row in client.xinfo_groups(ORDERS.stream) if row["name"] == name)


async def test_demo_publishes_and_delivers() -> None:
    async with running_demo() as options:
        with redis.Redis(unix_socket_path=options.socket_path, protocol=2, legacy_responses=False) as client:
            length = client.xlen(ORDERS.stream)
            delivered = group_of(client, b"billing")["last-delivered-id"]
            await eventually(lambda: client.xlen(ORDERS.stream) >= length + 10)
            await eventually(lambda: group_of(client, b"billing")["last-delivered-id"] > delivered)
            assert group_of(client, b"shipping")["pending"]
            names = {row["name"] for row in client.client_list()}
            assert "streamops-demo" in names
