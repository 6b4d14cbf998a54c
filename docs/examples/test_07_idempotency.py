"""Delivery is at least once, so an event may come twice: published twice, or delivered again. With ``key=`` a
handler takes each business key once. The key belongs to the entry that came first, whatever becomes of its
worker: that entry may run again, another with the same key is acknowledged and counted. A dead letter gives its
key back.
"""

import msgspec
import redis as redis_py

from streamops.runtime import Entry, Streamops
from streamops.runtime.events import Duplicate
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Payment(msgspec.Struct):
    order_id: str
    part: int = 1


async def test_the_same_key_is_handled_once(redis: ConnectionOptions) -> None:
    app, paid, told = Streamops(), list[str](), list[Duplicate]()
    app.on(Duplicate)(told.append)

    @app.handler("payments", group="bank", key="order_id")
    async def pay(payment: Payment) -> None:
        paid.append(payment.order_id)

    async with staged(app, redis) as stage:
        await stage.publish("payments", Payment("o-1"))
        second = await stage.publish("payments", {"order_id": "o-1"})
        await stage.publish("payments", Payment("o-2"))
        await stage.idle()
        assert await stage.dead_letters("payments") == []
    assert sorted(paid) == ["o-1", "o-2"]
    assert [(event.entry_id, event.key) for event in told] == [(second, "o-1")]


async def test_a_key_may_be_computed(redis: ConnectionOptions) -> None:
    app, paid = Streamops(), list[tuple[str, int]]()

    def key(payment: Payment) -> str:
        return f"{payment.order_id}/{payment.part}"

    @app.handler("payments", group="bank", key=key)
    async def pay(payment: Payment) -> None:
        paid.append((payment.order_id, payment.part))

    async with staged(app, redis) as stage:
        for part in (1, 2, 1):
            await stage.publish("payments", Payment("o-1", part))
        await stage.idle()
    assert sorted(paid) == [("o-1", 1), ("o-1", 2)]


async def test_a_retry_is_no_duplicate_of_itself(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[int]()

    @app.handler("payments", group="bank", key="order_id", retry=0.01)
    async def pay(_: Payment, entry: Entry) -> None:
        attempts.append(entry.attempt)
        if entry.attempt == 1:
            raise ConnectionError("the bank does not answer")

    async with staged(app, redis) as stage:
        await stage.publish("payments", Payment("o-1"))
        await stage.idle()
        await stage.publish("payments", Payment("o-1"))
        await stage.idle()
    assert attempts == [1, 2]


async def test_a_dead_letter_gives_its_key_back(redis: ConnectionOptions) -> None:
    app, accounts, paid = Streamops(), set[str](), list[str]()

    @app.handler("payments", group="bank", key="order_id", retry=None)
    async def pay(payment: Payment) -> None:
        if payment.order_id not in accounts:
            raise LookupError("no such account")
        paid.append(payment.order_id)

    async with staged(app, redis) as stage:
        await stage.publish("payments", Payment("o-1"))
        await stage.idle()
        assert len(await stage.dead_letters("payments")) == 1
        accounts.add("o-1")
        await stage.publish("payments", Payment("o-1"))
        await stage.idle()
    assert paid == ["o-1"]


async def test_keys_may_be_kept_for_ever(redis: ConnectionOptions, client: redis_py.Redis) -> None:
    """Each takes some hundred bytes of Redis until somebody deletes it: what they take grows with what was handled."""
    app, paid = Streamops(), list[str]()

    @app.handler("payments", group="bank", key="order_id", key_ttl=None)
    async def pay(payment: Payment) -> None:
        paid.append(payment.order_id)

    async with staged(app, redis) as stage:
        for _ in range(2):
            await stage.publish("payments", Payment("o-1"))
            await stage.idle()
    assert paid == ["o-1"]
    assert client.ttl("{payments}:done:bank:o-1") == -1


async def test_without_its_key_an_entry_is_a_dead_letter(redis: ConnectionOptions) -> None:
    app = Streamops()

    @app.handler("payments", group="bank", key=lambda fields: fields.get("order_id"))
    async def pay(fields: dict[str, str]) -> None:
        raise AssertionError(fields)

    async with staged(app, redis) as stage:
        await stage.publish("payments", {"amount": 3})
        await stage.publish("payments", {"amount": 4})
        await stage.idle()
        letters = await stage.dead_letters("payments")
    assert [letter.error for letter in letters] == ["it has no key, by which it would be known again"] * 2
