"""A worker whose delayed queue is a sorted set of another program."""

import pytest

from streamops.errors import Forbidden
from streamops.runtime import Entry, Streamops
from streamops.runtime.events import DelayedForeign, Event
from tests.support.runtime.working import until, working
from tests.support.servers import RunningServer

QUEUE = "orders:retry"


async def test_a_worker_leaves_foreign_members_and_moves_its_own_past_them(server: RunningServer) -> None:
    app = Streamops(server.options, delayed={"orders": QUEUE})
    attempts, events = list[int](), list[Event]()
    app.on(DelayedForeign)(events.append)

    @app.handler("orders", group="g", start="0", retry=0.01)
    async def fail_once(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if entry.attempt == 1:
            raise ValueError("again")

    before: list[bytes] = [b'{"order": 1}', b"17.25", b'{"order": 2}', b"99999999999999"]
    server.command("ZADD", QUEUE, before[1], before[0], before[3], before[2])
    server.command("XADD", "orders", "*", "n", 1)
    async with working(app), app.publisher() as publisher:
        await until(lambda: attempts == [1, 2])
        await until(lambda: server.command("ZCARD", QUEUE) == 2)
        with pytest.raises(Forbidden, match="is no delayed message of streamops"):
            await publisher.cancel("orders", '{"order": 1}')
    assert server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES") == before
    assert events == [DelayedForeign("orders", QUEUE, 1)]
    assert server.command("EXISTS", "{orders}:dlq") == 0
