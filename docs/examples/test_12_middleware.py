"""Middleware stands around every handler: it is given the entry and what is inside, and what it raises or returns
stands for the handler. The first one declared is the outermost. Around handlers of batches there is one of its
own. What one handler alone needs around it is said where that is declared.
"""

from collections.abc import Sequence
from contextvars import ContextVar

import msgspec

from streamops.runtime import BatchCall, Call, Entry, Reject, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions

TENANT = ContextVar("tenant", default="nobody")


class Order(msgspec.Struct):
    order_id: str


async def test_middleware_stands_around_every_handler(redis: ConnectionOptions) -> None:
    app, told = Streamops(), list[str]()

    @app.middleware
    async def outer(entry: Entry, call: Call) -> object:
        told.append(f"attempt {entry.attempt} begins")
        result = await call(entry)
        told.append(f"it ends with {result}")
        return result

    @app.middleware
    async def inner(entry: Entry, call: Call) -> object:
        TENANT.set((entry.get("tenant") or b"nobody").decode())
        return await call(entry)

    @app.handler("orders", group="shipping", concurrency=1)
    async def ship(order: Order) -> str:
        told.append(f"{order.order_id} of {TENANT.get()}")
        return "a parcel"

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"), fields={"tenant": "acme"})
        await stage.idle()
    assert told == ["attempt 1 begins", "o-1 of acme", "it ends with a parcel"]


async def test_what_it_raises_is_the_handlers_failure(redis: ConnectionOptions) -> None:
    app, shipped = Streamops(), list[str]()

    @app.middleware
    async def only_known_tenants(entry: Entry, call: Call) -> object:
        if entry.get("tenant") != b"acme":
            raise Reject("no such tenant")
        return await call(entry)

    @app.handler("orders", group="shipping")
    async def ship(order: Order) -> None:
        shipped.append(order.order_id)

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"), fields={"tenant": "acme"})
        await stage.publish("orders", Order("o-2"), fields={"tenant": "evil"})
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert (shipped, letter.error) == (["o-1"], "no such tenant")


async def test_it_may_catch_what_the_handler_raises(redis: ConnectionOptions) -> None:
    app, caught = Streamops(), list[str]()

    @app.middleware
    async def forgive(entry: Entry, call: Call) -> object:
        try:
            return await call(entry)
        except ZeroDivisionError as error:
            caught.append(str(error))
            return None

    @app.handler("orders", group="shipping")
    async def ship(_: Order) -> float:
        return 1 / 0

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        assert await stage.dead_letters("orders") == []
    assert caught == ["division by zero"]


async def test_one_handler_has_its_own_inside_the_others(redis: ConnectionOptions) -> None:
    app, told = Streamops(), list[str]()

    @app.middleware
    async def around_all(entry: Entry, call: Call) -> object:
        told.append("all")
        return await call(entry)

    async def outer(entry: Entry, call: Call) -> object:
        told.append("outer")
        return await call(entry)

    async def inner(entry: Entry, call: Call) -> object:
        told.append("inner")
        return await call(entry)

    @app.handler("orders", group="shipping", middleware=[outer, inner])
    async def ship(order: Order) -> None:
        told.append(order.order_id)

    @app.handler("refunds", group="accounting")
    async def pay_back(order: Order) -> None:
        told.append(order.order_id)

    async with staged(app, redis) as stage:
        for stream in ("orders", "refunds"):
            await stage.publish(stream, Order(f"of {stream}"))
            await stage.idle()
    assert told == ["all", "outer", "inner", "of orders", "all", "of refunds"]


async def test_batches_have_their_own(redis: ConnectionOptions) -> None:
    app, told = Streamops(), list[int]()

    @app.batch_middleware
    async def measure(entries: Sequence[Entry], call: BatchCall) -> object:
        told.append(len(entries))
        return await call(entries)

    @app.handler("orders", group="warehouse", batch=10, linger=0.05, concurrency=1)
    async def insert(orders: list[Order]) -> None:
        assert len(orders) == told[-1]

    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish_many("orders", map(Order, "abc"))
        await stage.idle()
    assert sum(told) == 3
