"""A module declares its handlers on a router, and need not import the application, which includes the router. A
prefix goes before the names of its streams; its middleware stands around its handlers alone, inside the
application's.
"""

from collections.abc import AsyncIterator

import msgspec
import pytest

from streamops.errors import SettingsError
from streamops.runtime import Call, Entry, Router, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


class Journal(list[str]):
    """What the handlers of all modules write to."""


shop = Router()


@shop.middleware
async def around_the_shop(entry: Entry, call: Call) -> object:
    return f"the shop's {await call(entry)}"


@shop.handler("orders", group="shipping")
async def ship(order: Order, journal: Journal) -> str:
    journal.append(f"ship {order.order_id}")
    return "parcel"


async def test_an_application_includes_routers(redis: ConnectionOptions) -> None:
    app, journal = Streamops(), Journal()
    app.include(shop)
    app.include(shop, prefix="outlet:")

    @app.lifespan
    async def open_journal(_: Streamops) -> AsyncIterator[Journal]:
        yield journal

    @app.middleware
    async def around_all(entry: Entry, call: Call) -> object:
        journal.append(f"{entry.stream}: {await call(entry)}")
        return None

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        await stage.publish("outlet:orders", Order("o-2"))
        await stage.idle()
    assert journal == [
        "ship o-1",
        "orders: the shop's parcel",
        "ship o-2",
        "outlet:orders: the shop's parcel",
    ]


def test_no_group_of_a_stream_has_two_handlers() -> None:
    app = Streamops()
    app.include(shop)
    with pytest.raises(SettingsError, match="group shipping of stream orders is read by ship already"):
        app.include(shop)
