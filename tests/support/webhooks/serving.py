"""The whole service in a test: intake, workers, and an HTTP client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import aiohttp
from msgspec import Struct

from streamops.model.topics import Topic
from streamops.service.listening import bind
from streamops.webhooks.breaker import BreakerOptions
from streamops.webhooks.callback import HostOptions
from streamops.webhooks.ingest import IngestOptions
from streamops.webhooks.metrics import TopicCounters
from streamops.webhooks.registry import Site
from streamops.webhooks.request_log import RequestLog
from streamops.webhooks.service import ListenOptions, ServiceOptions, serve
from tests.support.eventually import SETTLE_SECONDS
from tests.support.servers import RunningServer

BREAKER = BreakerOptions(failures=5, pause=timedelta(milliseconds=200))


class Served(Struct):
    """A running service.

    Attributes:
        session: A client of its intake.
    """

    session: aiohttp.ClientSession

    async def post(self, path: str, body: bytes = b'{"n":1}', **given: Any) -> dict[str, Any]:
        """Add a message."""
        async with self.session.post(f"/topics/{path}", data=body, **given) as response:
            assert response.status == 201, await response.text()
            document: dict[str, Any] = await response.json()
            return document

    async def post_again(self, path: str) -> None:
        """Add a message, as often as it takes: a Redis that has come back is refused until the next look at it."""
        async with asyncio.timeout(SETTLE_SECONDS):
            while True:
                async with self.session.post(f"/topics/{path}", data=b'{"n":1}') as response:
                    if response.status == 201:
                        return
                    assert response.status == 503, await response.text()
                await asyncio.sleep(0.01)

    async def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Look something up."""
        async with self.session.get(f"/topics/{path}") as response:
            return response.status, await response.json()


@asynccontextmanager
async def serving(
    *sites: Site,
    calls: int = 16,
    grace: float = 5,
    counters: TopicCounters | None = None,
    log: RequestLog | None = None,
    **further: Any,
) -> AsyncIterator[Served]:
    """Serve topics of these servers; loopback may be called."""
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    options = ServiceOptions(
        sites=sites,
        listen=ListenOptions(listener, IngestOptions()),
        calls=calls,
        hosts=("127.0.0.1",),
        host=HostOptions(breaker=BREAKER),
        grace=timedelta(seconds=grace),
        **further,
    )
    stop, started = asyncio.Event(), asyncio.Event()
    service = asyncio.create_task(serve(options, stop, started.set, counters, log))
    waiting = asyncio.create_task(started.wait())
    await asyncio.wait({service, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if service.done():
        waiting.cancel()
        service.result()
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            yield Served(session)
    finally:
        stop.set()
        await service


def site(server: RunningServer, *topics: Topic, name: str = "") -> Site:
    """A server and its configured topics."""
    return Site(name, server.options, topics)
