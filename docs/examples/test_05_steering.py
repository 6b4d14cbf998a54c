"""A handler says by what it raises what is to become of its entry: ``RetryLater`` chooses the delay, ``Reject``
gives it up at once, ``Skip`` acknowledges it. Errors that no second try can help are declared ``no_retry_on``.
"""

import msgspec

from streamops.runtime import Entry, Reject, RetryLater, Skip, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


async def test_retry_later_chooses_the_delay(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[int]()

    @app.handler("orders", group="shipping", retry=3_600)
    async def ship(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if entry.attempt == 1:
            raise RetryLater(0.01, "the warehouse opens at eight")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
    assert attempts == [1, 2]


async def test_what_could_not_even_begin_need_not_count(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[int]()

    @app.handler("orders", group="shipping", max_attempts=1)
    async def ship(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if len(attempts) < 4:
            raise RetryLater(0.01, "too many calls at the moment", counts=False)

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        assert await stage.dead_letters("orders") == []
    assert attempts == [1, 1, 1, 1]


async def test_reject_gives_up_and_skip_is_done(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[str]()

    @app.handler("orders", group="shipping")
    async def ship(order: Order) -> None:
        attempts.append(order.order_id)
        if order.order_id == "test":
            raise Skip("nobody ordered that")
        raise Reject("we do not ship to the moon")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("test"))
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert sorted(attempts) == ["o-1", "test"]
    assert (letter.reason, letter.error) == ("rejected", "we do not ship to the moon")


async def test_errors_without_retry_are_not_tried_again(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[int]()

    @app.handler("orders", group="shipping", no_retry_on=(ZeroDivisionError, LookupError))
    async def ship(entry: Entry) -> None:
        attempts.append(entry.attempt)
        raise KeyError("street")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert attempts == [1]
    assert (letter.reason, letter.error) == ("rejected", "KeyError: 'street'")
