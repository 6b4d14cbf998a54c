from typing import Any

import redis

from streamops.demo.parcels import RETURNS
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


async def test_demo_replays_in_a_job_and_calls_a_webhook() -> None:
    async with running_demo() as options:
        with redis.Redis(unix_socket_path=options.socket_path, protocol=2, legacy_responses=False) as client:

            def is_acknowledged() -> bool:
                groups = client.xinfo_groups("topic:receipts") if client.exists("topic:receipts") else []
                return any(row["last-delivered-id"] != b"0-0" and not row["pending"] for row in groups)

            await eventually(lambda: client.xlen("parcels:returned") < RETURNS)
            await eventually(is_acknowledged)
            assert not client.exists("{topic:receipts}:dlq")
