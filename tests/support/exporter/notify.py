"""A notifier that is in a hurry."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from streamops.exporter.alerts import AlertEvaluator, Evaluation, Origin
from streamops.exporter.notifier import Notifier, Sending
from streamops.exporter.outlets import NotifyAddress, open_outlets
from streamops.exporter.scraper import Scraper
from streamops.exporter.series_limits import SeriesLimits
from streamops.model.observation import Health
from streamops.model.secret import Secret
from streamops.monitor.server_monitor import ServerMonitor
from streamops.monitor.watch import Watch
from streamops.wire.options import ConnectionOptions
from tests.support.invented import seconds
from tests.support.servers import RunningServer

QUICK = Sending(pause=seconds(0.05), attempt=seconds(5), shutdown=seconds(1))
EVERY = seconds(0.02)


def notifier(
    *urls: str, sending: Sending = QUICK, after: timedelta = timedelta(0), label: str = "redis://here"
) -> Notifier:
    addresses = [NotifyAddress(Secret(url), Health.WARN, "line") for url in urls]
    evaluator = AlertEvaluator(Health.WARN, after, after)
    return Notifier(open_outlets(addresses), evaluator, Origin(label), EVERY, sending)


@asynccontextmanager
async def running(told: Notifier, look: Callable[[], Awaitable[Evaluation | None]]) -> AsyncIterator[None]:
    task = asyncio.create_task(told.run(look))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def scraping(options: ConnectionOptions) -> AsyncIterator[Scraper]:
    scraper = Scraper(
        lambda: ServerMonitor.connect(options, Watch(streams=("orders",))), SeriesLimits(), "here"
    )
    try:
        yield scraper
    finally:
        await scraper.close()


def stop_consuming(server: RunningServer) -> None:
    """A group without consumers, for which an entry has waited for ten minutes."""
    past = int(server.client.time()[0]) - 600
    server.command("XGROUP", "CREATE", "orders", "billing", "0", "MKSTREAM")
    server.command("XADD", "orders", f"{past}000-1", "n", "1")
