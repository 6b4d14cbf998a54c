"""taskiq on a stream: ``publish FIRST LAST``; its workers are run by its own command. Run by the peers' own Python."""

import asyncio
import os
import sys

from taskiq_redis import RedisStreamBroker

from tests.support.peers import ledger

URL, STREAM, GROUP = os.environ["URL"], os.environ["STREAM"], os.environ["GROUP"]
PREFETCHED = 8

broker = RedisStreamBroker(
    URL, queue_name=STREAM, consumer_group_name=GROUP, consumer_id="0", xread_block=50, xread_count=PREFETCHED
)


@broker.task(task_name="handle")
async def handle(number: int) -> None:
    """Account for a number."""
    if not ledger.begin(number):
        await asyncio.Event().wait()
    ledger.write("done", number)


async def publish(first: int, last: int) -> None:
    """Publish a range of numbers, as taskiq writes them."""
    await broker.startup()
    for number in range(first, last):
        await handle.kiq(number)
    await broker.shutdown()


if __name__ == "__main__":
    asyncio.run(publish(*map(int, sys.argv[2:])))
