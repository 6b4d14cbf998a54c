"""Payloads that are kept beside a stream, read when a person asks for them."""

from datetime import timedelta

import pytest

from streamops.errors import NotFound
from streamops.operations.console import Console
from tests.support.servers import RunningServer

KEY = "{orders}:payload:ab"


async def test_a_payload_is_read_with_its_size_and_the_time_it_stays(server: RunningServer) -> None:
    server.command("SET", KEY, b"x" * 100, "EX", "3600")
    async with await Console.open(server.options) as console:
        found = await console.read_payload(KEY, 10)
        assert found is not None
        assert (found.key, found.size, found.head) == (KEY, 100, b"x" * 10)
        assert found.ttl is not None
        assert timedelta(minutes=59) < found.ttl <= timedelta(hours=1)
        server.command("PERSIST", KEY)
        whole = await console.read_payload(KEY, 1_000)
        assert whole is not None
        assert (whole.head, whole.ttl) == (b"x" * 100, None)


async def test_a_payload_that_is_gone_is_none_and_another_key_is_none_of_ours(
    server: RunningServer,
) -> None:
    server.command("XADD", "orders", "*", "a", "b")
    async with await Console.open(server.options) as console:
        assert await console.read_payload(KEY, 10) is None
        with pytest.raises(NotFound, match="the key is no string"):
            await console.read_payload("orders", 10)
