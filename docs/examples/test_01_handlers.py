"""A handler is a function. What it takes says what it is given: a msgspec Struct, a dataclass or a TypedDict is
made of the entry's body; parameters of plain types are fields by their names; dicts are its fields; bytes its field
``data``; ``Entry`` tells where it comes from. Who wrote the entry does not matter: JSON in the field ``data`` and plain fields are both understood.
"""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from threading import current_thread, main_thread
from typing import TypedDict

import msgspec
import pytest

from streamops.errors import SettingsError
from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str
    total: int = 0


@dataclass
class Refund:
    order_id: str
    total: int


class Sale(msgspec.Struct):
    order_id: str
    amount: Decimal
    parcels: int


class Stock(TypedDict):
    item: str
    left: int


async def test_a_handler_is_given_what_its_parameter_says(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), list[object]()

    @app.handler("orders", group="shipping")
    async def ship(order: Order) -> None:
        seen.append(order)

    @app.handler("refunds", group="accounting")
    async def pay_back(refund: Refund) -> None:
        seen.append(refund)

    @app.handler("stock", group="buying")
    async def buy(stock: Stock) -> None:
        seen.append(stock)

    async with staged(app, redis) as stage:
        for stream, body in (
            ("orders", Order("o-1", 30)),
            ("refunds", Refund("o-1", 30)),
            ("stock", Stock(item="pen", left=3)),
        ):
            await stage.publish(stream, body)
            await stage.idle()
    assert seen == [Order("o-1", 30), Refund("o-1", 30), {"item": "pen", "left": 3}]


async def test_plain_fields_of_any_producer_are_understood(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), list[object]()

    @app.handler("orders", group="typed")
    async def typed(order: Order) -> None:
        seen.append(order)

    @app.handler("orders", group="texts")
    async def texts(fields: dict[str, str]) -> None:
        seen.append(fields)

    @app.handler("photos", group="raw")
    async def raw(fields: dict[bytes, bytes]) -> None:
        seen.append(fields)

    @app.handler("photos", group="data")
    async def data(photo: bytes) -> None:
        seen.append(photo)

    async with staged(app, redis) as stage:
        # XADD orders * order_id o-1 total 30
        await stage.publish("orders", {"order_id": "o-1", "total": "30"})
        await stage.idle()
        assert Order("o-1", 30) in seen
        assert {"order_id": "o-1", "total": "30"} in seen
        await stage.publish("photos", b"\xff\xd8\xff")
        await stage.idle()
        assert {b"data": b"\xff\xd8\xff"} in seen
        assert b"\xff\xd8\xff" in seen


async def test_fields_are_taken_by_their_names(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), list[tuple[str, Decimal, int]]()

    @app.handler("orders", group="shipping")
    async def ship(order_id: str, amount: Decimal, parcels: int = 1) -> None:
        seen.append((order_id, amount, parcels))

    async with staged(app, redis) as stage:
        await stage.publish("orders", {"order_id": "o-1", "amount": "9.90", "colour": "red"})
        await stage.idle()
        # Its JSON in the field `data`.
        await stage.publish("orders", Sale("o-2", Decimal(3), parcels=2))
        await stage.idle()
        await stage.publish("orders", {"order_id": "o-3"})
        await stage.publish("orders", {"order_id": "o-4", "amount": "much"})
        await stage.idle()
        letters = await stage.dead_letters("orders")
    assert seen == [("o-1", Decimal("9.90"), 1), ("o-2", Decimal(3), 2)]
    assert [(letter.fields["order_id"], letter.reason) for letter in letters] == [
        (b"o-3", "undecodable"),
        (b"o-4", "undecodable"),
    ]
    assert "missing required field `amount`" in letters[0].error


async def test_the_entry_tells_of_itself(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), list[Entry]()

    @app.handler("orders", group="shipping")
    async def ship(order: Order, entry: Entry) -> None:
        assert order.order_id == "o-1"
        seen.append(entry)

    async with staged(app, redis) as stage:
        entry_id = await stage.publish("orders", {"order_id": "o-1", "colour": "red"})
        await stage.idle()
        (entry,) = seen
        assert (entry.id, entry.origin_id) == (entry_id, entry_id)
        assert (entry.stream, entry.group, entry.consumer) == ("orders", "shipping", stage.worker.id)
        assert (entry.attempt, entry.deliveries) == (1, 1)
        assert entry.get("colour") == b"red"
        assert entry.fields == ((b"order_id", b"o-1"), (b"colour", b"red"))
        assert entry.age < timedelta(minutes=1)


async def test_plain_functions_run_in_the_event_loop_or_in_threads(redis: ConnectionOptions) -> None:
    app, threads = Streamops(), dict[str, bool]()

    @app.handler("orders", group="quick")
    def quick(_: Order) -> None:
        threads["quick"] = current_thread() is main_thread()

    @app.handler("orders", group="blocking", threads=True, concurrency=4)
    def blocking(_: Order) -> None:
        threads["blocking"] = current_thread() is main_thread()

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
    assert threads == {"quick": True, "blocking": False}


def test_what_makes_no_sense_is_refused_where_it_is_declared() -> None:
    app = Streamops()

    async def untyped(order) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001 - what is refused

    async def typed(order: Order) -> None: ...

    with pytest.raises(SettingsError, match="parameter order: has no type"):
        app.handler("orders", group="shipping")(untyped)
    with pytest.raises(SettingsError, match="concurrency=0"):
        app.handler("orders", group="shipping", concurrency=0)(typed)
    with pytest.raises(SettingsError, match="is async and cannot run in threads"):
        app.handler("orders", group="shipping", threads=True)(typed)
    assert not app.handlers
