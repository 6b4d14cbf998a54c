"""taskiq, with its stream broker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from taskiq.api import run_receiver_task
from taskiq_redis import RedisStreamBroker

from tests.benchmarks.peers import side

broker = RedisStreamBroker(side.URL, queue_name=side.STREAM, consumer_group_name=side.GROUP, consumer_id="0")


@broker.task(task_name="handle")
async def handle(body: str) -> None:
    """One task."""
    await side.act(body)


async def work() -> None:
    """Until it is told to stop."""
    await run_receiver_task(broker, max_async_tasks=side.SLOTS, run_startup=True)


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Call the task."""
    await broker.startup()
    yield handle.kiq
    await broker.shutdown()


side.main(work, sending)
