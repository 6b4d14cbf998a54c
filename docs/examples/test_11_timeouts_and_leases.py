"""``timeout`` limits one call. ``lease`` is something else: how long an entry may lie idle before other workers
take it over. A worker renews the leases of all that it has, so a handler may run for longer than its lease and
nobody else starts it.
"""

import asyncio

import msgspec
from redis import Redis

from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


async def test_a_call_that_takes_too_long_is_cut_off(redis: ConnectionOptions) -> None:
    app, ends = Streamops(), list[str]()

    @app.handler("orders", group="shipping", timeout=0.05, retry=0, max_attempts=2)
    async def ship(_: Order) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cut off")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert ends == ["cut off", "cut off"]
    assert (letter.reason, letter.error) == ("timeout", "longer than 0.05 s")


async def test_a_long_call_keeps_its_entry(redis: ConnectionOptions) -> None:
    app, starts = Streamops(), list[str]()

    @app.handler("orders", group="shipping", lease=0.3)
    async def ship(entry: Entry) -> None:
        starts.append(entry.id)
        await asyncio.sleep(0.8)

    # Two workers: one has it, the other one looks for what lies idle.
    async with staged(app, redis) as stage, staged(app, redis):
        born = await stage.publish("orders", Order("o-1"))
        await stage.idle()
    assert starts == [born]


async def test_what_others_let_lie_is_taken_over(redis: ConnectionOptions, client: Redis) -> None:
    app, seen = Streamops(redis), list[tuple[str, int, int]]()
    async with app.publisher() as publisher:
        born = await publisher.publish("orders", Order("o-1"))
    # A consumer of any other library, which has been given it and is never heard of again.
    client.xgroup_create("orders", "shipping", "0")
    client.xreadgroup("shipping", "somebody", {"orders": ">"})

    @app.handler("orders", group="shipping", lease=0.1)
    async def ship(entry: Entry) -> None:
        seen.append((entry.id, entry.attempt, entry.deliveries))

    async with staged(app, redis) as stage:
        await stage.idle()
    # That it has been tried before cannot be ruled out.
    assert seen == [(born, 2, 2)]
