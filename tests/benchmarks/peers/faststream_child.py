"""FastStream."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from faststream import FastStream
from faststream.redis import RedisBroker, StreamSub

from tests.benchmarks.peers import side

broker = RedisBroker(side.URL, logger=None)
source = StreamSub(
    side.STREAM,
    group=side.GROUP,
    consumer=f"faststream-{os.getpid()}",
    max_records=side.BATCH or 100,
    polling_interval=5_000,
    batch=bool(side.BATCH),
)

if side.BATCH:

    @broker.subscriber(stream=source)
    async def handle_many(bodies: list[dict[str, str]]) -> None:
        """A batch."""
        await side.act(side.body_of(int(bodies[0]["number"])))

else:

    @broker.subscriber(stream=source, max_workers=side.SLOTS)
    async def handle(body: str) -> None:
        """One entry."""
        await side.act(body)


async def work() -> None:
    """Until it is told to stop."""
    await FastStream(broker).run()


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Publish."""
    async with RedisBroker(side.URL, logger=None) as publisher:
        yield lambda body: publisher.publish(body, stream=side.STREAM)


side.main(work, sending)
