"""The exporter's HTTP server: what is served where."""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace
from prometheus_client.exposition import choose_encoder

from streamops import __version__
from streamops.exporter.notifier import Notifier, PageWatcher
from streamops.exporter.own_metrics import OwnMetrics
from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import Form
from streamops.exporter.scraper import Scraper
from streamops.exporter.targets import ScrapeTargets
from streamops.model.json_text import encode
from streamops.model.text import safe
from streamops.monitor.observe import fold_retries
from streamops.resources.status import status_document
from streamops.service.authentication import Authentication, require_authentication
from streamops.service.listening import listening
from streamops.service.requests import answering_failures

TIMEOUT_HEADER: Final = "X-Prometheus-Scrape-Timeout-Seconds"
SPARE_SECONDS: Final = 0.5
"""How long before Prometheus gives up an answer is on its way."""

LONGEST_SECONDS: Final = 600.0
PIECE: Final = 1 << 16
READ_SECONDS: Final = 60.0
"""How long a client may take to read an answer."""

JSON: Final = {"Content-Type": "application/json; charset=utf-8"}


class ServerOptions(Struct, frozen=True, kw_only=True):
    """How metrics are served.

    Attributes:
        host: Where to listen.
        port: At which port; the kernel chooses if it is zero.
        web_config: The web-config file; None for plain HTTP without authentication.
        label: The server that is scraped, in words, without secrets.
        context: The context's name, if it is one: it may be probed by that name too.
    """

    host: str
    port: int
    web_config: Path | None = None
    label: str = ""
    context: str | None = None


@asynccontextmanager
async def serving(
    options: ServerOptions,
    scraper: Scraper,
    targets: ScrapeTargets,
    watched: Sequence[tuple[Scraper, Notifier]] = (),
) -> AsyncIterator[int]:
    """Serve until the block ends, then let scrapes under way finish; gives the port.

    A first collection begins at once, so that it is known soon whether the server can be read.

    Args:
        options: How to serve.
        scraper: What is served.
        targets: What may be probed.
        watched: Servers of whose findings notices are sent, each with what sends them.

    Raises:
        SettingsError: The web-config file cannot be understood, or the address cannot be listened at.
    """
    authentication = Authentication(options.web_config)
    own = OwnMetrics(partial(_count_notices, watched) if watched else None)
    app = _application(_Site(options, scraper, targets, own), authentication)
    async with listening(app, options.host, options.port, authentication) as port:
        tasks: list[asyncio.Task[Any]] = [
            asyncio.create_task(scraper.scrape()),
            asyncio.create_task(targets.tidy()),
        ]
        for seen, notifier in watched:
            watcher = PageWatcher(seen, notifier.every)
            tasks.append(asyncio.create_task(notifier.run(watcher.look)))
        try:
            yield port
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _count_notices(watched: Sequence[tuple[Scraper, Notifier]]) -> Mapping[str, int]:
    """Notices of all servers by outcome."""
    counts = [notifier.counts() for _, notifier in watched]
    return {outcome: sum(one[outcome] for one in counts) for outcome in counts[0]}


def _application(site: "_Site", authentication: Authentication) -> web.Application:
    app = web.Application(middlewares=[answering_failures])
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

    def __init__(
        self, options: ServerOptions, scraper: Scraper, targets: ScrapeTargets, own: OwnMetrics
    ) -> None:
        self._options = options
        self._scraper = scraper
        self._targets = targets
        self._own = own

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        """The target's metrics and the exporter's own."""
        page = await self._scraper.scrape(_deadline(request))
        return await _send_page(request, page, self._own.render)

    async def probe(self, request: web.Request) -> web.StreamResponse:
        """The metrics of a context of the configuration."""
        names = request.query.getall("target", [])
        if len(names) != 1 or not names[0]:
            return web.Response(text="say which context to probe, once: /probe?target=CONTEXT\n", status=400)
        named = names[0] == self._options.context
        scraper = self._scraper if named else await self._targets.find(names[0])
        return await _send_page(request, await scraper.scrape(_deadline(request)), lambda _: b"")

    async def status(self, request: web.Request) -> web.StreamResponse:
        """The status document."""
        page = await self._scraper.scrape(_deadline(request))
        observation = self._scraper.status(page)
        if observation is None:
            reason = self._scraper.problem or "no reading of it has ended in time"
            return web.Response(
                text=encode({"error": reason}) + "\n", status=503, content_type="application/json"
            )
        folded = replace(observation, streams=tuple(fold_retries(observation.streams)))
        return await send(request, f"{encode(status_document(folded), indent=2)}\n".encode(), JSON)

    async def healthy(self, _: web.Request) -> web.Response:
        """Whether this process lives."""
        return web.Response(text="healthy\n")

    async def ready(self, _: web.Request) -> web.Response:
        """Whether a first collection has ended, well or not."""
        if self._scraper.page is not None:
            return web.Response(text="ready\n")
        return web.Response(text="not ready: the first collection is under way\n", status=503)

    async def landing(self, _: web.Request) -> web.Response:
        """What is served where."""
        names = await self._targets.names()
        return web.Response(text=landing_page(self._options.label, names), content_type="text/html")


async def _send_page(
    request: web.Request, page: MetricsPage, own: Callable[[Form], bytes]
) -> web.StreamResponse:
    """Send a page, and families of other origin, as the client takes it."""
    form = choose_form(_joined(request, "Accept"))
    headers = {"Content-Type": form.value, "Vary": "Accept, Accept-Encoding"}
    if _takes_gzip(_joined(request, "Accept-Encoding")):
        headers["Content-Encoding"] = "gzip"
        return await send(request, page.packed(form, own(form)), headers)
    return await send(request, page.plain(form, own(form)), headers)


def _takes_gzip(accepted: str) -> bool:
    """Whether ``Accept-Encoding`` names gzip, or anything, and not with a weight of zero."""
    for coding in accepted.split(","):
        name, *parameters = [part.strip().lower() for part in coding.split(";")]
        if name in {"gzip", "*"}:
            return not any(re.fullmatch(r"q=0(\.0*)?", parameter) for parameter in parameters)
    return False


async def send(request: web.Request, body: bytes, headers: dict[str, str]) -> web.StreamResponse:
    """Send an answer in pieces, so that a client that reads slowly holds one; after a minute it loses its connection."""
    response = web.StreamResponse(headers=headers)
    response.content_length = len(body)
    try:
        async with asyncio.timeout(READ_SECONDS):
            await response.prepare(request)
            if request.method != "HEAD":
                for at in range(0, len(body), PIECE):
                    await response.write(body[at : at + PIECE])
            await response.write_eof()
    except ConnectionError:
        # The client has left.
        pass
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
    return response


def choose_form(accept: str) -> Form:
    """The format that prometheus_client chooses by an ``Accept`` header."""
    try:
        _, content_type = choose_encoder(accept)
    except (TypeError, ValueError):
        # It asks for a version that is none.
        return Form.TEXT
    return Form.OPENMETRICS if content_type.startswith("application/openmetrics-text") else Form.TEXT


def _deadline(request: web.Request) -> timedelta | None:
    return read_deadline(request.headers.get(TIMEOUT_HEADER))


def read_deadline(header: str | None) -> timedelta | None:
    """How long a scrape may take by Prometheus's header; None if it says nothing that makes sense."""
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


STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#222}"
    "h1{font-size:1.4rem}li{margin:.3rem 0}code{background:#f3f3f3;padding:.1rem .3rem}"
)
LINKS: Final = (
    ("/metrics", "metrics of the server, and of this process"),
    ("/api/v1/status", "the status document, as streamops status -o json prints it"),
    ("/-/healthy", "whether this process lives"),
    ("/-/ready", "whether the server has been looked at once"),
)


def landing_page(label: str, contexts: Iterable[str]) -> str:
    """The page that a browser finds at ``/``; nothing on it runs, and all names are escaped.

    Args:
        label: The server that is scraped, in words, without secrets.
        contexts: Names of the contexts that may be probed.
    """
    links = [*LINKS, *((f"/probe?target={quote(name, safe='')}", f"metrics of {name}") for name in contexts)]
    rows = "\n".join(
        f'<li><a href="{escape(link)}"><code>{escape(safe(link))}</code></a> {escape(safe(words))}</li>'
        for link, words in links
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>streamops exporter</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>streamops exporter {escape(__version__)}</h1>\n"
        f"<p>Redis Streams at <code>{escape(safe(label))}</code>.</p>\n<ul>\n{rows}\n</ul>\n</body>\n</html>\n"
    )
