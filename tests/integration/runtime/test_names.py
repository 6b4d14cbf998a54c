"""Queues that are called otherwise than beside their stream: publishers and workers agree on them."""

from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from tests.support.servers import RunningServer


async def test_queues_of_ones_own_names(server: RunningServer) -> None:
    app = Streamops(
        server.options, delayed={"orders": "{orders}:later"}, dead_letters={"orders": "{orders}:dead"}
    )
    attempts = list[int]()

    @app.handler("orders", group="shipping", retry=3_600, max_attempts=2)
    async def ship(entry: Entry) -> None:
        attempts.append(entry.attempt)
        raise ValueError("no such street")

    async with staged(app, server.options) as stage, app.publisher() as publisher:
        await publisher.publish("orders", {"n": 1}, delay=3_600, id="m-1")
        assert await publisher.get("orders", "m-1") is not None
        await publisher.publish_many("orders", [{"n": 2}], delay=3_600, ids=["m-2"])
        assert await publisher.cancel("orders", "m-2")
        assert server.command("ZRANGE", "{orders}:later", 0, -1) == [b"m-1"]
        await stage.hasten()
        await stage.idle(delayed=False)
        assert server.command("ZCARD", "{orders}:later") == 1
        await stage.hasten()
        await stage.idle()
        assert len(await stage.dead_letters("orders")) == 1
    assert attempts == [1, 2]
    assert set(server.command("KEYS", "*")) == {b"orders", b"{orders}:retry:shipping", b"{orders}:dead"}
