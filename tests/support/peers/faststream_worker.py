"""FastStream on a stream: ``publish FIRST LAST``, or ``work``. Run by the peers' own Python."""

import asyncio
import os
import sys

from faststream import FastStream
from faststream.redis import RedisBroker, StreamSub

from tests.support.peers import ledger

URL, STREAM, GROUP = os.environ["URL"], os.environ["STREAM"], os.environ["GROUP"]
PREFETCHED = 8

broker = RedisBroker(URL, logger=None)


@broker.subscriber(
    stream=StreamSub(
        STREAM, group=GROUP, consumer=f"faststream-{os.getpid()}", max_records=PREFETCHED, polling_interval=50
    )
)
async def handle(number: int) -> None:
    """Account for a number."""
    if not ledger.begin(number):
        await asyncio.Event().wait()
    ledger.write("done", number)


async def publish(first: int, last: int) -> None:
    """Publish a range of numbers, as FastStream writes them."""
    async with RedisBroker(URL, logger=None) as publisher:
        for number in range(first, last):
            await publisher.publish(number, stream=STREAM)


if __name__ == "__main__":
    words = sys.argv[1:]
    asyncio.run(publish(*map(int, words[1:])) if words[0] == "publish" else FastStream(broker).run())
