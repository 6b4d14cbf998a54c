"""The same number as JSON over HTTP, for KEDA's ``metrics-api`` and whoever else asks. Importing this imports aiohttp."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from msgspec import Struct

from streamops.autoscaling.keda.answers import is_active, named, no_such_pool, not_known
from streamops.autoscaling.keda.board import Pools, PoolView
from streamops.model.json_text import encode, text_json
from streamops.model.safe_text import encodable
from streamops.service.authentication import Door, admit_by
from streamops.service.failures import telling_failures
from streamops.service.listening import listening

SCHEMA: Final = "streamops.pool/1"
MOST_BYTES: Final = 1 << 10
"""Of a request's body; none of ours has one."""


class HttpOptions(Struct, frozen=True, kw_only=True):
    """How the number is served over HTTP.

    Attributes:
        host: Where to listen.
        port: At which port; the kernel chooses where it is zero.
        web_config: TLS, client certificates and passwords, in the exporter's format; none for plain HTTP and everybody.
    """

    host: str = "127.0.0.1"
    port: int = 9643
    web_config: Path | None = None


@asynccontextmanager
async def serving(options: HttpOptions, pools: Pools) -> AsyncIterator[int]:
    """Serve until the block ends, then let answers under way finish; gives the port.

    Args:
        options: How to serve.
        pools: What is served.

    Raises:
        SettingsError: The web-config file cannot be understood, or the address cannot be listened at.
    """
    door = Door(options.web_config)
    app = _application(pools, door)
    async with listening(app, options.host, options.port, door, flag="--http") as port:
        yield port


def pool_document(pool: str, view: PoolView) -> dict[str, Any]:
    """What is told of a pool whose number is known."""
    return {
        "schema": SCHEMA,
        "pool": text_json(pool),
        "desired_workers": view.desired,
        "active": is_active(view),
        "lag_known": view.lag_known,
        "observed_at": view.at,
        "reason": encodable(view.reason),
    }


def _application(pools: Pools, door: Door) -> web.Application:
    app = web.Application(client_max_size=MOST_BYTES, middlewares=[telling_failures])
    admit_by(app, door)
    site = _Site(pools)
    app.add_routes(
        [
            web.get("/pools/{pool}", site.pool),
            web.get("/-/healthy", site.healthy),
            web.get("/-/ready", site.ready),
        ]
    )
    return app


class _Site:
    """Answers requests."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools

    async def pool(self, request: web.Request) -> web.Response:
        """How many workers a pool should have; no number at all where that was never known."""
        name = request.match_info["pool"]
        view = self._pools.view(name)
        if view is None:
            return web.Response(text=f"{no_such_pool(name, self._pools.names())}\n", status=404)
        if view.desired is None:
            return web.Response(text=f"{not_known(name, view)}\n", status=503)
        return web.Response(
            text=f"{encode(pool_document(name, view), indent=2)}\n", content_type="application/json"
        )

    async def healthy(self, _: web.Request) -> web.Response:
        """Whether this process lives."""
        return web.Response(text="healthy\n")

    async def ready(self, _: web.Request) -> web.Response:
        """Whether every pool was looked at once, whatever came of it."""
        views = {name: self._pools.view(name) for name in self._pools.names()}
        unseen = [name for name, view in views.items() if view is not None and not view.looked]
        if unseen:
            return web.Response(text=f"not ready: pools not looked at yet: {named(unseen)}\n", status=503)
        return web.Response(text="ready\n")
