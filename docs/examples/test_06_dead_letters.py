"""What is given up is never dropped: one step moves it to the dead letters beside its stream, ``{orders}:dlq``,
as it was, with the reason, the error and where it came from; what cannot be decoded goes there too. A hook is
told. Once the cause is mended, ``streamops replay '{orders}:dlq'`` hands the letters back, here from Python.
"""

import msgspec

from streamops.model.acting import Actor, Confirmation
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str
    total: int = 0


async def test_a_letter_keeps_the_entry_as_it_was(redis: ConnectionOptions) -> None:
    app = Streamops()

    @app.handler("orders", group="shipping", retry=None)
    async def ship(_: Order) -> None:
        raise ValueError("no such street")

    async with staged(app, redis) as stage:
        await stage.publish("orders", {"order_id": "o-1", "colour": "red"})
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert letter.fields == {"order_id": b"o-1", "colour": b"red"}
    assert (letter.reason, letter.error, letter.attempt) == ("rejected", "ValueError: no such street", 1)


async def test_what_is_not_what_the_handler_takes_is_given_up_without_a_call(
    redis: ConnectionOptions,
) -> None:
    app = Streamops()

    @app.handler("orders", group="shipping")
    async def ship(order: Order) -> None:
        raise AssertionError(order)

    async with staged(app, redis) as stage:
        await stage.publish("orders", {"order_id": "o-1", "total": "many"})
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert letter.reason == "undecodable"
    assert letter.error.startswith("it is no Order: ")
    assert letter.error.endswith("at `$.total`")


async def test_a_hook_is_told_of_what_is_given_up(redis: ConnectionOptions) -> None:
    app, told = Streamops(), list[str]()

    async def apologise(entry: Entry, error: BaseException) -> None:
        told.append(f"{entry.get('order_id')!r} {error}")

    @app.handler("orders", group="shipping", retry=0, max_attempts=2, failed=apologise)
    async def ship(_: Order) -> None:
        raise ValueError("no such street")

    async with staged(app, redis) as stage:
        await stage.publish("orders", {"order_id": "o-1"})
        await stage.idle()
    assert told == ["b'o-1' no such street"]


async def test_a_replay_hands_letters_back(redis: ConnectionOptions) -> None:
    app, streets, attempts = Streamops(), set[str](), list[tuple[int, str]]()

    @app.handler("orders", group="shipping", retry=None)
    async def ship(entry: Entry) -> None:
        attempts.append((entry.attempt, entry.origin_id))
        if not streets:
            raise ValueError("no such street")

    async with staged(app, redis) as stage:
        born = await stage.publish("orders", Order("o-1"))
        await stage.idle()
        streets.add("the new street")
        async with await Console.open(redis, actor=Actor("ada")) as console:
            # Planned first, and shown; nothing is written before it is applied.
            replay = await console.prepare(ReplayIntent(queue="{orders}:dlq", mode=ReplayMode.RETRY))
            assert replay.plan.count == 1
            await console.apply(replay, Confirmation(yes=True))
        await stage.idle()
        assert await stage.dead_letters("orders") == []
    assert attempts == [(1, born), (1, born)]
