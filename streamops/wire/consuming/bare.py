"""Bare redis-py, to compare with: what anybody writes by hand. No library, no promises."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from streamops.errors import SettingsError
from streamops.model.server import Mode
from streamops.wire.connect import connection_pool
from streamops.wire.faults import server_error
from streamops.wire.options import ConnectionOptions

COUNT: Final = 100
"""Entries that the loop reads, and acknowledges, at once."""

BLOCK: Final = 5_000


def refuse_cluster(options: ConnectionOptions) -> None:
    """Raises ``SettingsError`` where the server is a cluster, of which a bare client of one server knows nothing."""
    if options.mode is Mode.CLUSTER:
        raise SettingsError("--bare: not on a cluster", "Leave it out, or name a single server by --url.")


async def add_one_by_one(options: ConnectionOptions, stream: str, bodies: Sequence[bytes]) -> float:
    """XADD after XADD; the seconds it took."""
    async with _client(options) as client:
        with _timed() as took:
            for body in bodies:
                await client.xadd(stream, {"data": body})
    return took[0]


async def add_at_once(
    options: ConnectionOptions, stream: str, bodies: Sequence[bytes], concurrency: int
) -> float:
    """The same by many tasks, each with a connection of its own; the seconds it took."""
    async with _client(options, concurrency) as client:

        async def add(share: Sequence[bytes]) -> None:
            for body in share:
                await client.xadd(stream, {"data": body})

        # Connections are made before the time begins.
        await asyncio.gather(*(client.ping() for _ in range(concurrency)))
        with _timed() as took:
            await asyncio.gather(*(add(bodies[at::concurrency]) for at in range(concurrency)))
    return took[0]


async def add_in_batches(
    options: ConnectionOptions, stream: str, bodies: Sequence[bytes], batch: int
) -> float:
    """Pipelines of XADD; the seconds it took."""
    async with _client(options) as client:
        with _timed() as took:
            for at in range(0, len(bodies), batch):
                async with client.pipeline(transaction=False) as pipeline:
                    for body in bodies[at : at + batch]:
                        pipeline.xadd(stream, {"data": body})
                    await pipeline.execute()
    return took[0]


async def drain(options: ConnectionOptions, stream: str, group: str, entries: int) -> float:
    """XREADGROUP, and one XACK for what it gave, until so many entries are done; the seconds it took."""
    async with _client(options) as client:
        with _timed() as took:
            while entries > 0:
                ids = [ident for ident, _ in await _read(client, stream, group)]
                if not ids:
                    break
                await client.xack(stream, group, *ids)
                entries -= len(ids)
    return took[0]


async def pace(
    options: ConnectionOptions, stream: str, group: str, bodies: Sequence[bytes], rate: float
) -> list[float]:
    """Add entries at a rate and read them in a task beside it; the seconds that each was under way."""
    began: list[float] = []
    taken: list[float] = []

    async def read(client: Redis) -> None:
        while len(taken) < len(bodies):
            for ident, _ in await _read(client, stream, group):
                taken.append(time.perf_counter() - began[len(taken)])
                await client.xack(stream, group, ident)

    async with _client(options) as client:
        reading = asyncio.create_task(read(client))
        try:
            first = time.perf_counter()
            for at, body in enumerate(bodies):
                await asyncio.sleep(max(0.0, first + at / rate - time.perf_counter()))
                began.append(time.perf_counter())
                await client.xadd(stream, {"data": body})
            await reading
        finally:
            reading.cancel()
            with suppress(asyncio.CancelledError, RedisError):
                await reading
    return taken


async def _read(client: Redis, stream: str, group: str) -> list[tuple[bytes, Any]]:
    reply: Any = await client.xreadgroup(group, "bare", {stream: ">"}, count=COUNT, block=BLOCK)
    if not reply:
        return []
    ((_, entries),) = reply.items() if isinstance(reply, dict) else reply
    return list(entries)


@asynccontextmanager
async def _client(options: ConnectionOptions, connections: int = 2) -> AsyncIterator[Redis]:
    refuse_cluster(options)
    pool = connection_pool(options)
    pool.max_connections = connections + 1
    problem: Exception | None = None
    try:
        async with Redis.from_pool(pool) as client:
            await client.ping()
            yield client
    except (RedisError, OSError, TimeoutError) as error:
        problem = error
    # Outside the handler, so that the error does not carry redis-py's along as its context.
    if problem is not None:
        raise server_error(problem, options.label, options.username, tls=options.tls is not None)


@contextmanager
def _timed() -> Iterator[list[float]]:
    """Seconds that the block took, once it has ended."""
    took: list[float] = []
    began = time.perf_counter()
    yield took
    took.append(time.perf_counter() - began)
