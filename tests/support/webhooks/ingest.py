"""Requests to the intake."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, NamedTuple

import aiohttp

from streamops.model.topics import Topic
from streamops.service.authentication import Authentication
from streamops.service.listening import bind, serving
from streamops.webhooks.ingest import IngestOptions, ingest_app
from streamops.webhooks.registry import Site, TopicRegistry
from tests.support.servers import RunningServer

OPEN = IngestOptions(max_body=1000)
REMIND = Topic(name="remind", url="http://h", delay=timedelta(minutes=30))
NOW = Topic(name="now", url="http://h")
MESSAGES = "/topics/remind/messages"


class Reply(NamedTuple):
    """What the intake answered."""

    status: int
    document: dict[str, Any]
    headers: dict[str, str]


class Client:
    """Asks the intake."""

    def __init__(self, session: aiohttp.ClientSession, registry: TopicRegistry) -> None:
        self.session = session
        self.registry = registry

    async def __call__(self, method: str, path: str, **given: Any) -> Reply:
        async with self.session.request(method, path, **given) as response:
            assert response.content_type == "application/json"
            return Reply(response.status, await response.json(), dict(response.headers))


@asynccontextmanager
async def intake(*sites: Site, options: IngestOptions = OPEN, most: int = 100) -> AsyncIterator[Client]:
    registry = TopicRegistry(sites)
    await registry.look()
    try:
        app, listener = ingest_app(registry, options), bind("127.0.0.1", 0)
        async with serving(app, listener, Authentication(None), most=most, idle=15, grace=5) as port:
            timeout = aiohttp.ClientTimeout(total=20)
            async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", timeout=timeout) as session:
                yield Client(session, registry)
    finally:
        await registry.close()


def site(server: RunningServer, *topics: Topic, name: str = "") -> Site:
    return Site(name, server.options, topics)
