"""A web application holds a publisher for as long as it lives, and publishes in its endpoints. Here it is one of aiohttp; for
others, such as FastAPI, it is the same: enter ``app.publisher()`` where the application starts, leave it where it ends.
"""

from collections.abc import AsyncIterator

import msgspec
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from streamops.runtime import Publisher, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions

PUBLISHER = web.AppKey("publisher", Publisher)


class Order(msgspec.Struct):
    order_id: str


def web_application(app: Streamops) -> web.Application:
    """An endpoint that publishes."""

    async def open_publisher(site: web.Application) -> AsyncIterator[None]:
        async with app.publisher() as publisher:
            site[PUBLISHER] = publisher
            yield

    async def place(request: web.Request) -> web.Response:
        entry_id = await request.app[PUBLISHER].publish("orders", Order(request.match_info["order_id"]))
        return web.json_response({"id": entry_id})

    site = web.Application()
    site.cleanup_ctx.append(open_publisher)
    site.router.add_post("/orders/{order_id}", place)
    return site


async def test_an_endpoint_publishes(redis: ConnectionOptions) -> None:
    app, shipped = Streamops(), list[str]()

    @app.handler("orders", group="shipping")
    async def ship(order: Order) -> None:
        shipped.append(order.order_id)

    async with staged(app, redis) as stage, TestClient(TestServer(web_application(app))) as browser:
        answer = await browser.post("/orders/o-1")
        assert answer.status == 200
        await stage.idle()
    assert shipped == ["o-1"]


async def test_what_publishes_now_and_then_needs_no_publisher_of_its_own(redis: ConnectionOptions) -> None:
    app, shipped = Streamops(redis), list[str]()

    @app.handler("orders", group="shipping")
    async def ship(order: Order) -> None:
        shipped.append(order.order_id)

    async with staged(app, redis) as stage:
        await app.publish("orders", Order("o-1"))
        await app.publish("orders", Order("o-2"), delay=0.01)
        await stage.idle()
    assert shipped == ["o-1", "o-2"]
