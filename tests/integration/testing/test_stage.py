"""The kit with which applications are tested."""

import msgspec
import pytest

from streamops.runtime import Entry, Reject, Streamops
from streamops.testing import embedded_redis, staged
from tests.support.servers import RunningServer


class Order(msgspec.Struct):
    order_id: str


class Ball(msgspec.Struct):
    hops: int


app = Streamops()
shipped: list[tuple[str, int]] = []


@app.handler("orders", group="shipping", retry=3600)
async def ship(order: Order, entry: Entry) -> None:
    if order.order_id == "never":
        raise Reject("no such order")
    if order.order_id == "later" and entry.attempt == 1:
        raise ValueError("the carrier is closed")
    shipped.append((order.order_id, entry.attempt))


@pytest.fixture(autouse=True)
def _empty() -> None:
    shipped.clear()


async def test_an_application_runs_on_a_server_of_its_own() -> None:
    usual = app.connection
    async with staged(app) as stage:
        for word in ("a", "later", "never"):
            await stage.publish("orders", Order(word))
        await stage.publish("orders", Order("tomorrow"), delay=86_400)
        await stage.idle(delayed=False)
        assert shipped == [("a", 1)]
        with pytest.raises(TimeoutError, match="2 delayed for orders; `hasten"):
            await stage.idle(seconds=0.1)
        await stage.hasten()
        await stage.idle()
        assert sorted(shipped) == [("a", 1), ("later", 2), ("tomorrow", 1)]
        (letter,) = await stage.dead_letters("orders")
        assert letter.reason == "rejected"
        assert letter.error == "no such order"
        assert letter.attempt == 1
        assert msgspec.json.decode(letter.fields["data"]) == {"order_id": "never"}
    assert app.connection is usual


async def test_a_server_may_be_shared(server: RunningServer) -> None:
    for word in ("a", "b"):
        async with staged(app, server.options) as stage:
            await stage.publish("orders", Order(word))
            await stage.idle()
    assert [order_id for order_id, _ in shipped] == ["a", "b"]


def test_an_empty_server_comes_and_goes() -> None:
    with embedded_redis() as first, embedded_redis() as second:
        assert first.socket_path != second.socket_path


async def test_idle_is_when_nothing_is_left_wherever_work_goes(server: RunningServer) -> None:
    """Handlers publish to each other's streams and fail now and then; no moment in between looks like the end."""
    playing = Streamops(server.options)
    hops: list[int] = []

    @playing.handler(["ping", "pong"], group="players", retry=0)
    async def play(ball: Ball, entry: Entry) -> None:
        if entry.attempt == 1 and ball.hops % 3 == 0:
            raise ValueError("missed")
        hops.append(ball.hops)
        if ball.hops < 60:
            other = "pong" if entry.stream == "ping" else "ping"
            await publisher.publish(other, Ball(ball.hops + 1), delay=0 if ball.hops % 2 else None)

    async with staged(playing, server.options) as stage, playing.publisher() as publisher:
        await stage.publish("ping", Ball(1))
        await stage.idle()
        assert hops == list(range(1, 61))
