"""The exporter's server in a test's own process, and a client of it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from msgspec.structs import replace

from streamops.exporter.scraper import Scraper
from streamops.exporter.series_limits import NO_LIMITS, SeriesLimits
from streamops.exporter.server import ServerOptions, serving
from streamops.exporter.target import Open
from streamops.exporter.targets import ScrapeTargets
from streamops.monitor.server_monitor import ServerMonitor
from streamops.monitor.watch import Watch
from tests.support.servers import RunningServer

PATIENCE = timedelta(seconds=30)
AN_HOUR = 3600.0


OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}
"""Headers of a scrape."""


class Answer(NamedTuple):
    """What the exporter answered."""

    status: int
    text: str
    headers: Mapping[str, str]

    def value(self, name: str) -> float:
        """The value of a sample by its name, labels included."""
        (found,) = [line for line in self.text.splitlines() if line.startswith(f"{name} ")]
        return float(found.rpartition(" ")[2])


class Exporter(NamedTuple):
    """A running exporter, and a client of it."""

    session: aiohttp.ClientSession
    port: int
    scraper: Scraper
    targets: ScrapeTargets

    async def get(self, path: str, method: str = "GET", scheme: str = "http", **given: Any) -> Answer:
        """Ask for a path."""
        url = f"{scheme}://localhost:{self.port}{path}"
        async with self.session.request(method, url, **given) as response:
            return Answer(response.status, await response.text(), response.headers)


def opening(server: RunningServer, patience: timedelta = PATIENCE) -> Open:
    """What connects a scraper to a server."""

    async def open_monitor() -> ServerMonitor:
        return await ServerMonitor.connect(replace(server.options, timeout=patience), Watch(deep=True))

    return open_monitor


@asynccontextmanager
async def scraping(
    server: RunningServer, *, guards: SeriesLimits = NO_LIMITS, patience: timedelta = PATIENCE
) -> AsyncIterator[Scraper]:
    """A scraper of a server."""
    running = Scraper(opening(server, patience), guards, "test")
    try:
        yield running
    finally:
        await running.close()


@asynccontextmanager
async def exporting(
    server: RunningServer,
    *,
    web_config: Path | None = None,
    contexts: Mapping[str, RunningServer] | None = None,
    guards: SeriesLimits = NO_LIMITS,
    patience: timedelta = PATIENCE,
) -> AsyncIterator[Exporter]:
    """A running exporter of a server, whose first collection has ended or cannot."""
    known = contexts or {}
    options = ServerOptions(host="127.0.0.1", port=0, web_config=web_config, label=server.url, context="here")
    targets = ScrapeTargets(
        lambda: ["here", *known], lambda name: Scraper(opening(known[name], patience), guards, name)
    )
    try:
        async with (
            scraping(server, guards=guards, patience=patience) as running,
            serving(options, running, targets) as port,
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session,
        ):
            yield Exporter(session, port, running, targets)
    finally:
        await targets.close()


def reads(server: RunningServer) -> int:
    """How many commands the server was sent that read streams."""
    stats = server.client.info("commandstats")
    assert isinstance(stats, dict)
    return sum(
        one["calls"] for name, one in stats.items() if name.startswith(("cmdstat_xinfo", "cmdstat_eval"))
    )


def grow_old(scraper: Scraper) -> None:
    """Have the page of a scraper be one that is not fresh any more."""
    assert scraper.page is not None
    scraper.page.begun -= AN_HOUR
