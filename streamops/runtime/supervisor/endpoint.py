"""One HTTP endpoint for all worker processes: metrics for Prometheus, probes for Kubernetes and others."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from streamops.errors import SettingsError
from streamops.runtime.figures import HandlerFigures
from streamops.runtime.metrics import render

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@asynccontextmanager
async def serving(
    host: str,
    port: int,
    *,
    figures: Callable[[], Iterable[HandlerFigures]],
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

    application = web.Application()
    application.router.add_get("/metrics", metrics)
    application.router.add_get("/-/healthy", probe(healthy, "healthy"))  # type: ignore[arg-type]  # it is a handler
    application.router.add_get("/-/ready", probe(ready, "ready"))  # type: ignore[arg-type]  # it is a handler
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise SettingsError(
                f"cannot listen on {host}:{port}: {error.strerror or error}",
                "Choose another --metrics HOST:PORT.",
            ) from None
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
