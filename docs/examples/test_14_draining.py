"""A worker that is told to stop, by ``stop()`` or SIGTERM, reads nothing more, gives back at once what it has
read ahead, lets handlers finish what they have begun for as long as ``grace`` allows, and sends its last
acknowledgements. What was not finished by then is pending, and the other workers' to take over.
"""

import asyncio
from collections import Counter
from datetime import timedelta

from streamops.runtime import Entry, Streamops, WorkerOptions
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions

QUICK = WorkerOptions(beat=timedelta(seconds=0.1))
IMPATIENT = WorkerOptions(beat=timedelta(seconds=0.1), grace=timedelta(seconds=0.1))


class Shop:
    """An application whose handler waits until its gate is opened."""

    def __init__(self) -> None:
        self.app = Streamops()
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.starts = Counter[str]()
        self.ends = Counter[str]()
        self.app.handler("orders", group="shipping", concurrency=2)(self.ship)

    async def ship(self, entry: Entry) -> None:
        """Ship one order."""
        self.starts[entry.id] += 1
        self.begun.set()
        await self.gate.wait()
        self.ends[entry.id] += 1


async def test_what_was_begun_is_finished_and_the_rest_given_back(redis: ConnectionOptions) -> None:
    shop = Shop()
    async with staged(shop.app, redis, options=QUICK) as stage:
        ids = [await stage.publish("orders", {"n": number}) for number in range(20)]
        await shop.begun.wait()
        stage.worker.stop()
        asyncio.get_running_loop().call_later(0.05, shop.gate.set)
    assert shop.ends == shop.starts
    assert len(shop.ends) <= 2
    async with staged(shop.app, redis, options=QUICK) as stage:
        await stage.idle()
    assert shop.ends == dict.fromkeys(ids, 1)


async def test_what_takes_longer_than_grace_is_left_to_others(redis: ConnectionOptions) -> None:
    shop = Shop()
    async with staged(shop.app, redis, options=IMPATIENT) as stage:
        born = await stage.publish("orders", {"n": 1})
        await shop.begun.wait()
    assert shop.ends == {}
    shop.gate.set()
    async with staged(shop.app, redis, options=QUICK) as stage:
        await stage.idle()
    assert (shop.starts, shop.ends) == ({born: 2}, {born: 1})
