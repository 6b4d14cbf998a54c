"""streaq."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streaq import Worker

from tests.benchmarks.peers import side

worker: Worker[None] = Worker(redis_url=side.URL, concurrency=side.SLOTS, anyio_kwargs={"use_uvloop": True})


@worker.task(ttl=0)
async def handle(body: str) -> None:
    """One task."""
    await side.act(body)


def work() -> None:
    """Until it is told to stop."""
    worker.run_sync()


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Enqueue."""
    async with worker:
        yield handle.enqueue


side.main(work, sending)
