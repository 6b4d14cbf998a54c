"""Business keys: whoever came first has one, and keeps it."""

from datetime import timedelta

import pytest

from streamops.wire.consuming.idempotency import IdempotencyKeys, KeyClaim, KeyVerdict
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.keys import done_key
from streamops.wire.server import Server
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


KEY = done_key("s", "g", "order-7")
SUB = Subscription("s", "g", "ann", guarded=timedelta(hours=1))


def claim(key: str, origin: str) -> KeyClaim:
    return KeyClaim(key, origin.encode())


async def test_who_came_first_keeps_its_key_whoever_asks(server: RunningServer) -> None:
    client = Server(server.options)
    guards = IdempotencyKeys(client)
    try:
        for origin in ("1-1", "2-1", "1-1"):
            assert await guards.take(SUB, [claim(KEY, origin)]) == [b"1-1"]
        other = done_key("s", "g", "other")
        assert await guards.take(SUB, [claim(KEY, "3-1"), claim(other, "3-1")]) == [b"1-1", b"3-1"]
    finally:
        await client.close()


async def test_a_key_for_ever_goes_on_to_another_where_its_owner_was_never_handled(
    server: RunningServer,
) -> None:
    sub = Subscription("s", "g", "ann", guarded=None)
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    client = Server(server.options)
    guards = IdempotencyKeys(client)
    try:
        assert await guards.take(sub, [claim(KEY, "1-1")]) == [b"1-1"]
        assert server.command("PTTL", KEY) == -1
        assert await guards.contest(sub, [(claim(KEY, "2-1"), b"1-1")]) == [KeyVerdict.DUPLICATE]
        server.command("ZADD", sub.unhandled, 1, "1-1")
        assert await guards.contest(sub, [(claim(KEY, "2-1"), b"1-1")]) == [KeyVerdict.MINE]
    finally:
        await client.close()
    assert (server.command("GET", KEY), server.command("PTTL", KEY)) == (b"2-1", -1)
