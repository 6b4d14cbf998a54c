"""Tests run an application against what production runs against: a real server, embedded and empty, with a worker
in the test's own process. ``idle()`` waits until nothing is left to do and says what is, where that takes too
long; ``hasten()`` lets the time of all delayed messages have come; ``dead_letters()`` reads the dead letters.
"""

from collections.abc import Iterator

import msgspec
import pytest

from streamops.runtime import Entry, Streamops
from streamops.testing import embedded_redis, staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


app = Streamops("redis://production.example:6379/0")
shipped: list[str] = []


@app.handler("orders", group="shipping", retry=60)
async def ship(order: Order, entry: Entry) -> None:
    if order.order_id == "late" and entry.attempt == 1:
        raise ConnectionError("the carrier does not answer")
    shipped.append(order.order_id)


@pytest.fixture(scope="module")
def embedded() -> Iterator[ConnectionOptions]:
    """One server for many tests; ``staged(app)`` without one starts its own."""
    with embedded_redis() as connection:
        yield connection


@pytest.fixture(autouse=True)
def _nothing_shipped() -> None:
    shipped.clear()


async def test_an_order_is_shipped(embedded: ConnectionOptions) -> None:
    async with staged(app, embedded) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        assert await stage.dead_letters("orders") == []
    assert shipped == ["o-1"]


async def test_time_need_not_pass(embedded: ConnectionOptions) -> None:
    async with staged(app, embedded) as stage:
        await stage.publish("orders", Order("late"))
        await stage.publish("orders", Order("next year"), delay=365 * 86_400)
        await stage.idle(delayed=False)
        assert shipped == []
        with pytest.raises(
            TimeoutError, match=r"2 delayed for orders; `hasten\(\)` lets their time have come"
        ):
            await stage.idle(seconds=0.05)
        await stage.hasten()
        await stage.idle()
    assert sorted(shipped) == ["late", "next year"]
