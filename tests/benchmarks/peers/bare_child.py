"""The reference: a bare redis-py asyncio loop, XREADGROUP COUNT 100 and one XACK a batch. No library, no promises."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tests.benchmarks.peers import side

COUNT = 100


def connect() -> Redis:
    """A client that waits as long as it is told to."""
    return Redis.from_url(side.URL, socket_timeout=None, retry=Retry(NoBackoff(), 0))


async def work() -> None:
    """Read, handle, acknowledge."""
    async with connect() as client:
        me = f"bare-{os.getpid()}"
        while True:
            reply: Any = await client.xreadgroup(side.GROUP, me, {side.STREAM: ">"}, count=COUNT, block=5_000)
            for _, entries in reply or ():
                for _, fields in entries:
                    await side.act(fields[b"data"])
                await client.xack(side.STREAM, side.GROUP, *[ident for ident, _ in entries])


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Add entries."""
    async with connect() as client:
        yield lambda body: client.xadd(side.STREAM, {"data": body})


side.main(work, sending)
