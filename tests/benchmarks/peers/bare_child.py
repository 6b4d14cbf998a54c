"""The reference: a bare redis-py asyncio loop, XREADGROUP COUNT 100 and one XACK a batch. No library, no promises.

With ``GUARD`` it takes a key for each entry first, all of a batch in one pipeline, and skips those that are taken.
"""

import json
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


async def guard(client: Redis, entries: list[Any]) -> list[bytes | None]:
    """Who owned the key of each entry before; none of a key that is taken now."""
    pipeline = client.pipeline(transaction=False)
    for ident, fields in entries:
        pipeline.set(f"key:{json.loads(fields[b'data'])['number']}", ident, px=86_400_000, nx=True, get=True)
    owners: list[bytes | None] = await pipeline.execute()
    return owners


async def work() -> None:
    """Read, handle, acknowledge."""
    async with connect() as client:
        me = f"bare-{os.getpid()}"
        while True:
            reply: Any = await client.xreadgroup(side.GROUP, me, {side.STREAM: ">"}, count=COUNT, block=5_000)
            for _, entries in reply or ():
                owners = await guard(client, entries) if side.GUARD else [None] * len(entries)
                for (ident, fields), owner in zip(entries, owners, strict=True):
                    if owner not in {None, ident}:
                        continue
                    await side.act(fields[b"data"])
                await client.xack(side.STREAM, side.GROUP, *[ident for ident, _ in entries])


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Add entries."""
    async with connect() as client:
        yield lambda body: client.xadd(side.STREAM, {"data": body})


side.main(work, sending)
