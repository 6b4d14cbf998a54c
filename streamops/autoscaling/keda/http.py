"""The same number as JSON over HTTP, for KEDA's ``metrics-api`` and other clients. Importing this imports aiohttp."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from msgspec import Struct

from streamops.autoscaling.keda.answers import Board, PoolView, named, no_such_pool, not_known
from streamops.model.json_text import encode, text_json
from streamops.model.text import encodable
from streamops.service.authentication import Authentication, require_authentication
from streamops.service.listening import listening
from streamops.service.requests import answering_failures

SCHEMA: Final = "streamops.pool/1"
MOST_BYTES: Final = 1 << 10
"""Of a request's body; none of ours has one."""


class HttpOptions(Struct, frozen=True, kw_only=True):
    """How the number is served over HTTP.

    Attributes:
        host: Where to listen.
        port: At which port; the kernel chooses if it is zero.
        web_config: TLS, client certificates and passwords, in the exporter's format; None for plain HTTP without authentication.
    """

    host: str = "127.0.0.1"
    port: int = 9643
    web_config: Path | None = None


@asynccontextmanager
async def serving(options: HttpOptions, board: Board) -> AsyncIterator[int]:
    """Serve until the block ends, then let answers under way finish; gives the port.

    Args:
        options: How to serve.
        board: What is served.

    Raises:
        SettingsError: The web-config file cannot be understood, or the address cannot be listened at.
    """
    authentication = Authentication(options.web_config)
    app = _application(board, authentication)
    async with listening(app, options.host, options.port, authentication, flag="--http") as port:
        yield port


def pool_document(pool: str, view: PoolView) -> dict[str, Any]:
    """What is told of a pool whose number is known."""
    return {
        "schema": SCHEMA,
        "pool": text_json(pool),
        "desired_workers": view.desired,
        "active": view.active,
        "lag_known": view.lag_known,
        "observed_at": view.at,
        "reason": encodable(view.reason),
    }


def _application(board: Board, authentication: Authentication) -> web.Application:
    async def pool(request: web.Request) -> web.Response:
        """How many workers a pool should have; no number at all if that was never known."""
        name = request.match_info["pool"]
        view = board.view(name)
        if view is None:
            return web.Response(text=f"{no_such_pool(name, board)}\n", status=404)
        if view.desired is None:
            return web.Response(text=f"{not_known(name, view)}\n", status=503)
        text = f"{encode(pool_document(name, view), indent=2)}\n"
        return web.Response(text=text, content_type="application/json")

    async def healthy(_: web.Request) -> web.Response:
        """Whether this process lives."""
        return web.Response(text="healthy\n")

    async def ready(_: web.Request) -> web.Response:
        """Whether every pool was looked at once, whatever came of it."""
        views = {name: board.view(name) for name in board.reads}
        unseen = [name for name, view in views.items() if view is not None and not view.looked]
        if unseen:
            return web.Response(text=f"not ready: pools not evaluated yet: {named(unseen)}\n", status=503)
        return web.Response(text="ready\n")

    app = web.Application(client_max_size=MOST_BYTES, middlewares=[answering_failures])
    require_authentication(app, authentication)
    app.add_routes(
        [web.get("/pools/{pool}", pool), web.get("/-/healthy", healthy), web.get("/-/ready", ready)]
    )
    return app
