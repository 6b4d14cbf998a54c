"""arq, which polls; every 10 ms here, every 500 unless told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from arq import create_pool
from arq.connections import RedisSettings
from arq.worker import Worker

from tests.benchmarks.peers import side

SETTINGS = RedisSettings.from_dsn(side.URL)


async def handle(_context: dict[str, Any], body: str) -> None:
    """One job."""
    await side.act(body)


async def work() -> None:
    """Until it is told to stop."""
    worker = Worker(
        [handle],
        redis_settings=SETTINGS,
        max_jobs=side.SLOTS,
        poll_delay=0.01,
        keep_result=0,
        log_results=False,
    )
    await worker.async_run()


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Enqueue."""
    pool = await create_pool(SETTINGS)
    yield lambda body: pool.enqueue_job("handle", body)
    await pool.aclose()


side.main(work, sending)
