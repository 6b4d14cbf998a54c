"""Celery, with threads and late acknowledgements."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from celery import Celery

from tests.benchmarks.peers import side

app = Celery("bench", broker=side.URL)
app.conf.update(task_acks_late=True, task_ignore_result=True, worker_prefetch_multiplier=4)


@app.task(name="handle")
def handle(body: str) -> None:
    """One task."""
    side.act_now(body)


def work() -> None:
    """Until it is told to stop."""
    pool = ["--pool", "threads", "--concurrency", str(side.SLOTS)]
    app.worker_main(["worker", *pool, "--loglevel", "ERROR", "--without-gossip", "--without-mingle"])


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Send."""
    yield handle.delay


side.main(work, sending)
