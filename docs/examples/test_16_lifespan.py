"""What handlers share, such as clients, pools and models, is made in the application's lifespan: an async generator with
one yield. A worker process enters it before anything is read, and leaves it after its last handler has ended. What
it yields is given to each handler that has a parameter of its class.
"""

from collections.abc import AsyncIterator

import msgspec
import pytest

from streamops.errors import SettingsError
from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


class Carrier:
    """A client of another service, as it might be."""

    def __init__(self) -> None:
        self.is_open = True
        self.parcels: list[str] = []

    def send(self, parcel: str) -> None:
        """Have a parcel fetched."""
        assert self.is_open
        self.parcels.append(parcel)


async def test_a_handler_is_given_what_the_lifespan_yields(redis: ConnectionOptions) -> None:
    app, carriers = Streamops(), list[Carrier]()

    @app.lifespan
    async def open_carrier(_: Streamops) -> AsyncIterator[Carrier]:
        carriers.append(carrier := Carrier())
        yield carrier
        carrier.is_open = False

    @app.handler("orders", group="shipping")
    async def ship(order: Order, carrier: Carrier) -> None:
        carrier.send(order.order_id)

    @app.handler("orders", group="insurance", batch=10)
    async def insure(carrier: Carrier, orders: list[Order]) -> None:
        for order in orders:
            carrier.send(f"papers of {order.order_id}")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        (carrier,) = carriers
        assert carrier.is_open
    assert not carrier.is_open
    assert sorted(carrier.parcels) == ["o-1", "papers of o-1"]


async def test_a_worker_does_not_start_where_nothing_provides_it(redis: ConnectionOptions) -> None:
    app = Streamops()

    @app.handler("orders", group="shipping")
    async def ship(entry: Entry, carrier: Carrier) -> None:
        raise AssertionError(entry, carrier)

    with pytest.raises(SettingsError, match="parameter carrier: nothing provides a Carrier"):
        async with staged(app, redis):
            pass
