"""The exporter's HTTP server: what is served where."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from streamops.exporter.notices.notifier import Notifier, PageWatcher
from streamops.exporter.scraping.page import Page
from streamops.exporter.scraping.scraper import Scraper
from streamops.exporter.scraping.targets import Targets
from streamops.exporter.web.landing import landing_page
from streamops.exporter.web.own_metrics import OwnMetrics
from streamops.exporter.web.sending import choose_form, send, send_page
from streamops.model.json_text import encode
from streamops.monitor.observe import fold_retries
from streamops.present.documents import status_document
from streamops.service.authentication import Authentication, require_authentication
from streamops.service.listening import listening
from streamops.service.requests import telling_failures

TIMEOUT_HEADER: Final = "X-Prometheus-Scrape-Timeout-Seconds"
SPARE_SECONDS: Final = 0.5
"""How long before Prometheus gives up an answer is on its way."""

LONGEST_SECONDS: Final = 600.0
JSON: Final = {"Content-Type": "application/json; charset=utf-8"}


class ServerOptions(Struct, frozen=True, kw_only=True):
    """How metrics are served.

    Attributes:
        host: Where to listen.
        port: At which port; the kernel chooses where it is zero.
        web_config: The web-config file; none for plain HTTP and everybody.
        label: The server that is scraped, in words, without secrets.
        context: The context's name, where it is one: it may be probed by that name too.
    """

    host: str
    port: int
    web_config: Path | None = None
    label: str = ""
    context: str | None = None


@asynccontextmanager
async def serving(
    options: ServerOptions, scraper: Scraper, targets: Targets, notifier: Notifier | None = None
) -> AsyncIterator[int]:
    """Serve until the block ends, then let scrapes under way finish; gives the port.

    A first collection begins at once, so that it is known soon whether the server can be read.

    Args:
        options: How to serve.
        scraper: What is served.
        targets: What may be probed.
        notifier: Sends notices of findings; none where nobody is told.

    Raises:
        SettingsError: The web-config file cannot be understood, or the address cannot be listened at.
    """
    authentication = Authentication(options.web_config)
    own = OwnMetrics(notifier.counts if notifier else None)
    app = _application(_Site(options, scraper, targets, own), authentication)
    async with listening(app, options.host, options.port, authentication) as port:
        tasks: list[asyncio.Task[Any]] = [
            asyncio.create_task(scraper.scrape()),
            asyncio.create_task(targets.tidy()),
        ]
        if notifier is not None:
            watcher = PageWatcher(scraper, notifier.every)
            tasks.append(asyncio.create_task(notifier.run(watcher.look)))
        try:
            yield port
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _application(site: "_Site", authentication: Authentication) -> web.Application:
    app = web.Application(middlewares=[telling_failures])
    require_authentication(app, authentication)
    app.add_routes(
        [
            web.get("/", site.landing),
            web.get("/metrics", site.metrics),
            web.get("/probe", site.probe),
            web.get("/api/v1/status", site.status),
            web.get("/-/healthy", site.healthy),
            web.get("/-/ready", site.ready),
        ]
    )
    return app


class _Site:
    """Answers requests."""

    def __init__(self, options: ServerOptions, scraper: Scraper, targets: Targets, own: OwnMetrics) -> None:
        self._options = options
        self._scraper = scraper
        self._targets = targets
        self._own = own

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        """The target's metrics and the exporter's own."""
        form = choose_form(_joined(request, "Accept"))
        page = await self._scraper.scrape(read_deadline(request.headers.get(TIMEOUT_HEADER)))
        return await send_page(request, page, form, self._own.render(form))

    async def probe(self, request: web.Request) -> web.StreamResponse:
        """The metrics of a context of the configuration."""
        names = request.query.getall("target", [])
        if len(names) != 1 or not names[0]:
            return web.Response(text="say which context to probe, once: /probe?target=CONTEXT\n", status=400)
        form = choose_form(_joined(request, "Accept"))
        page = await self._probed(names[0], read_deadline(request.headers.get(TIMEOUT_HEADER)))
        return await send_page(request, page, form)

    async def status(self, request: web.Request) -> web.StreamResponse:
        """The status document."""
        page = await self._scraper.scrape(read_deadline(request.headers.get(TIMEOUT_HEADER)))
        observation = self._scraper.status(page)
        if observation is None:
            reason = self._scraper.problem or "it has not been read yet"
            return web.Response(
                text=encode({"error": reason}) + "\n", status=503, content_type="application/json"
            )
        folded = replace(observation, streams=tuple(fold_retries(observation.streams)))
        return await send(request, [f"{encode(status_document(folded), indent=2)}\n".encode()], JSON)

    async def healthy(self, _: web.Request) -> web.Response:
        """Whether this process lives."""
        return web.Response(text="healthy\n")

    async def ready(self, _: web.Request) -> web.Response:
        """Whether a first collection has ended, well or not."""
        if self._scraper.ready:
            return web.Response(text="ready\n")
        return web.Response(text="not ready: the first collection is under way\n", status=503)

    async def landing(self, _: web.Request) -> web.Response:
        """What is served where."""
        names = await self._targets.names()
        return web.Response(text=landing_page(self._options.label, names), content_type="text/html")

    async def _probed(self, name: str, within: timedelta | None) -> Page:
        if name == self._options.context:
            return await self._scraper.scrape(within)
        return await (await self._targets.find(name)).scrape(within)


def read_deadline(header: str | None) -> timedelta | None:
    """How long a scrape may take by Prometheus's header; none where it says nothing that makes sense."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    if not math.isfinite(seconds) or seconds <= 0:
        return None
    # A timeout of less than a second leaves half of it.
    return timedelta(seconds=min(max(seconds - SPARE_SECONDS, seconds / 2), LONGEST_SECONDS))


def _joined(request: web.Request, name: str) -> str:
    return ",".join(request.headers.getall(name, []))
