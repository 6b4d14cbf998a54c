"""Numbers of strangers, larger than clocks, calendars and counters are: they are shown or refused, and stop nothing."""

from datetime import timedelta

import pytest

from streamops.model.deliveries import KeptPayload
from streamops.model.entries import EntryId
from streamops.runtime import Entry, Streamops
from streamops.wire.consuming.payloads import read_kept_payload
from streamops.wire.keys import (
    delayed_key,
    payload_key,
)
from streamops.wire.replies import MILLISECOND
from streamops.wire.server import Server
from tests.support.runtime.working import until, working
from tests.support.security.hostile_numbers import G, S
from tests.support.servers import RunningServer


@pytest.mark.parametrize("score", ["9223372036854775807", "1e300", "-8.64e16", "+inf"])
async def test_a_worker_goes_on_whatever_is_delayed(server: RunningServer, score: str) -> None:
    server.command("ZADD", delayed_key(S), score, "m")
    handled: list[str] = []
    app = Streamops(server.unix_url)

    @app.handler(S, group=G, start="0")
    async def handle(entry: Entry) -> None:
        handled.append(entry.id)

    async with working(app):
        server.command("XADD", S, "1-1", "a", "1")
        async with app.publisher() as publisher:
            await publisher.publish(S, {"a": "2"}, delay=0.05)
        await until(lambda: len(handled) == 2)
    assert EntryId.parse(handled[0]) == EntryId(1, 1)


async def test_a_payload_is_kept_for_longer_than_the_calendar(server: RunningServer) -> None:
    key = payload_key(S, "x")
    server.command("SET", key, "content")
    server.command("PEXPIRE", key, 9_000_000_000_000_000_000)
    client = Server(server.options)
    try:
        kept = await read_kept_payload(client, key, 100)
    finally:
        await client.close()
    assert isinstance(kept, KeptPayload)
    assert (kept.head, kept.ttl) == (b"content", timedelta.max // MILLISECOND * MILLISECOND)
