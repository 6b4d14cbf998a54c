"""rq, with the worker that does not fork."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis import Redis
from rq import Queue, SimpleWorker

from tests.benchmarks.peers import side

connection = Redis.from_url(side.URL)
queue = Queue(connection=connection)


def work() -> None:
    """Until it is told to stop."""
    SimpleWorker([queue], connection=connection).work(logging_level=logging.ERROR)


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Enqueue."""
    yield lambda body: queue.enqueue("tests.benchmarks.peers.side.act_now", body, result_ttl=0)


side.main(work, sending)
