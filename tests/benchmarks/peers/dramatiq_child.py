"""dramatiq, whose workers are threads."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from tests.benchmarks.peers import side

broker = RedisBroker(url=side.URL)
dramatiq.set_broker(broker)


@dramatiq.actor
def handle(body: str) -> None:
    """One message."""
    side.act_now(body)


def work() -> None:
    """Until it is killed."""
    dramatiq.Worker(broker, worker_threads=side.SLOTS).start()
    threading.Event().wait()


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Send."""
    yield handle.send


side.main(work, sending)
