"""The applications of the demo: producers and consumers with their habits, good and bad."""

import asyncio
import math
from datetime import timedelta
from itertools import count
from random import Random

from msgspec import Struct

from streamops.demo.client import DeliveredEntry, DemoClient
from streamops.demo.dead_letters import DemoFailure, dead_letter
from streamops.demo.payloads import UNREADABLE_AMOUNT, is_poisoned, poisoned_order
from streamops.demo.sources import ORDERS, Source

MAX_DELIVERIES = 20
DEAD_LETTERS_CAP = 1_000
_FIRST_POISON = timedelta(seconds=10)
_WAVE = 0.25
_WAVE_PERIOD = timedelta(seconds=90)


class DemoWorker(Struct, frozen=True):
    """One consumer of a group.

    Attributes:
        stream: The stream it reads.
        group: Its group.
        consumer: Its name.
        batch: Most entries it takes at a time.
        effort: How long one entry keeps it busy.
    """

    stream: str
    group: str
    consumer: str
    batch: int
    effort: timedelta

    async def take(self, client: DemoClient) -> list[DeliveredEntry]:
        """Take a batch and spend the time that its entries need; they stay pending."""
        deliveries = await client.read(self.stream, self.group, self.consumer, count=self.batch)
        await asyncio.sleep(self.effort.total_seconds() * len(deliveries))
        return deliveries

    async def handle(self, client: DemoClient) -> int:
        """Take a batch and acknowledge it; how many entries it was."""
        deliveries = await self.take(client)
        await client.ack(self.stream, self.group, deliveries)
        return len(deliveries)


async def produce(client: DemoClient, source: Source, rng: Random) -> None:
    """Add entries at the source's rate, which swells and ebbs a little, forever."""
    loop = asyncio.get_running_loop()
    numbers = count(source.past_entries)
    tick = max(0.1, 0.5 / source.per_second)
    start = last = loop.time()
    due = 0.0
    while True:
        await asyncio.sleep(tick)
        now = loop.time()
        # After a suspended laptop there is no flood.
        elapsed, last = min(now - last, 1 + tick), now
        wave = 1 + _WAVE * math.sin(2 * math.pi * (now - start) / _WAVE_PERIOD.total_seconds())
        due += elapsed * source.per_second * wave * rng.uniform(0.5, 1.5)
        if due >= 1:
            await client.add(
                source.stream, [source.payload(rng, next(numbers)) for _ in range(int(due))], cap=source.cap
            )
            due %= 1


async def poison(client: DemoClient, rng: Random, every: timedelta) -> None:
    """Add an order that the fraud check cannot read, soon and then now and then, forever."""
    await asyncio.sleep(_FIRST_POISON.total_seconds())
    for number in count():
        await client.add(ORDERS.stream, [poisoned_order(rng, number)], cap=ORDERS.cap)
        await asyncio.sleep(every.total_seconds())


async def work_steadily(client: DemoClient, worker: DemoWorker) -> None:
    """Handle batch after batch, forever."""
    while True:
        await worker.handle(client)


async def work_in_batches(client: DemoClient, worker: DemoWorker, every: timedelta) -> None:
    """Sleep, then handle all there is, forever: a lag like the teeth of a saw."""
    while True:
        await asyncio.sleep(every.total_seconds())
        while await worker.handle(client) == worker.batch:
            pass


async def check_fraud(client: DemoClient, worker: DemoWorker, retry_after: timedelta) -> None:
    """Check orders; one that fails is tried again and again and ends as a dead letter, forever."""
    while True:
        deliveries = await worker.take(client)
        readable = [delivery for delivery in deliveries if not is_poisoned(delivery.fields)]
        await client.ack(worker.stream, worker.group, readable)
        for delivery, times in await client.claim_own(
            worker.stream, worker.group, worker.consumer, min_idle=retry_after
        ):
            if times >= MAX_DELIVERIES:
                await _give_up(client, worker, delivery, times)


async def _give_up(client: DemoClient, worker: DemoWorker, delivery: DeliveredEntry, times: int) -> None:
    failure = DemoFailure(
        stream=worker.stream,
        entry_id=delivery.id,
        group=worker.group,
        consumer=worker.consumer,
        reason="max-deliveries",
        error=UNREADABLE_AMOUNT,
        deliveries=times,
        failed_at=await client.read_time(),
    )
    letter = dead_letter(delivery.fields, failure)
    await client.give_up(letter, worker.stream, worker.group, delivery.id, cap=DEAD_LETTERS_CAP)
