"""One HTTP endpoint for all worker processes: metrics for Prometheus, probes for Kubernetes and others."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from streamops.runtime.handler_counts import HandlerCounts
from streamops.runtime.metrics import render
from streamops.service.authentication import Authentication, require_authentication
from streamops.service.listening import listening

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@asynccontextmanager
async def serving(
    host: str,
    port: int,
    *,
    figures: Callable[[], Iterable[HandlerCounts]],
    healthy: Callable[[], bool],
    ready: Callable[[], bool],
) -> AsyncIterator[int]:
    """Serve ``/metrics``, ``/-/healthy`` and ``/-/ready``; gives the port.

    Raises:
        SettingsError: Nothing can listen there.
    """

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=render(figures), headers={"Content-Type": CONTENT_TYPE})

    def probe(good: Callable[[], bool], word: str) -> Callable[[web.Request], object]:
        async def answer(_: web.Request) -> web.Response:
            return (
                web.Response(text=f"{word}\n") if good() else web.Response(text=f"not {word}\n", status=503)
            )

        return answer

    authentication = Authentication(None)
    application = web.Application()
    require_authentication(application, authentication)
    application.router.add_get("/metrics", metrics)
    application.router.add_get("/-/healthy", probe(healthy, "healthy"))  # type: ignore[arg-type]  # it is a handler
    application.router.add_get("/-/ready", probe(ready, "ready"))  # type: ignore[arg-type]  # it is a handler
    async with listening(application, host, port, authentication, flag="--metrics") as chosen:
        yield chosen
