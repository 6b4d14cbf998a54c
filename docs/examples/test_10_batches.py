"""A handler of batches takes lists, and is called once for many entries: as many as there are, up to ``batch``,
or as many as come within ``linger``. It may answer with a list, one result an entry: where that is an exception,
that entry alone has failed. Where it raises, or errors cannot be told apart, all of them have.
"""

import msgspec

from streamops.runtime import Entry, Reject, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


async def test_a_call_takes_many(redis: ConnectionOptions) -> None:
    app, sizes, rows = Streamops(), list[int](), list[str]()

    @app.handler("orders", group="warehouse", batch=50, linger=0.05, concurrency=1)
    async def insert(orders: list[Order]) -> None:
        sizes.append(len(orders))
        rows.extend(order.order_id for order in orders)

    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish_many("orders", (Order(f"o-{number}") for number in range(120)))
        await stage.idle()
    assert sorted(rows) == sorted(f"o-{number}" for number in range(120))
    assert max(sizes) == 50
    assert len(sizes) < 12


async def test_each_entry_may_have_a_result_of_its_own(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[tuple[str, int]]()

    @app.handler("orders", group="warehouse", batch=10, retry=0.01)
    async def insert(orders: list[Order], entries: list[Entry]) -> list[Exception | None]:
        attempts.extend((order.order_id, entry.attempt) for order, entry in zip(orders, entries, strict=True))
        return [verdict(order, entry) for order, entry in zip(orders, entries, strict=True)]

    def verdict(order: Order, entry: Entry) -> Exception | None:
        if order.order_id == "odd":
            return Reject("odd")
        return TimeoutError("busy") if order.order_id == "late" and entry.attempt == 1 else None

    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish_many("orders", map(Order, ("even", "odd", "late")))
        await stage.idle()
        letters = await stage.dead_letters("orders")
    assert sorted(attempts) == [("even", 1), ("late", 1), ("late", 2), ("odd", 1)]
    assert [letter.error for letter in letters] == ["odd"]


async def test_errors_that_could_be_anybodys_are_everybodys(redis: ConnectionOptions) -> None:
    app = Streamops()

    @app.handler("orders", group="warehouse", batch=10, linger=0.1, concurrency=1, retry=None)
    async def insert(orders: list[Order]) -> list[Exception]:
        return [ValueError(order.order_id) for order in orders if order.order_id == "odd"]

    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish_many("orders", map(Order, ("even", "odd", "zero")))
        await stage.idle()
        letters = await stage.dead_letters("orders")
    assert [letter.error for letter in letters] == ["ValueError: odd"] * 3


async def test_where_the_call_raises_all_of_them_have_failed(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[int]()

    @app.handler("orders", group="warehouse", batch=10, retry=0.01)
    async def insert(entries: list[Entry]) -> None:
        attempts.extend(entry.attempt for entry in entries)
        if entries[0].attempt == 1:
            raise ConnectionError("the database does not answer")

    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish_many("orders", map(Order, "abc"))
        await stage.idle()
    assert sorted(attempts) == [1, 1, 1, 2, 2, 2]
