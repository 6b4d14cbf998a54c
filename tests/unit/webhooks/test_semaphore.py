"""Permits: shares by weight, nobody starves, none is lost."""

import asyncio
import random
from collections import Counter

from streamops.webhooks.dispatcher import WeightedSemaphore
from tests.support.eventually import eventually


async def test_shares_are_as_the_weights() -> None:
    permits, given, running = WeightedSemaphore(4), Counter[str](), True

    async def call(name: str, weight: int) -> None:
        while running:
            async with permits.one(name, weight):
                given[name] += 1
                await asyncio.sleep(0)

    weights = {"high": 5, "normal": 3, "low": 2}
    tasks = [asyncio.create_task(call(name, weight)) for name, weight in weights.items() for _ in range(16)]
    await eventually(lambda: given.total() >= 5_000)
    shares = {name: round(10 * given[name] / given.total(), 1) for name in weights}
    running = False
    await asyncio.gather(*tasks)
    assert shares == {"high": 5.0, "normal": 3.0, "low": 2.0}


async def test_who_is_alone_has_all_and_saves_nothing_up() -> None:
    permits, order = WeightedSemaphore(1), []

    async def call(name: str, weight: int, times: int) -> None:
        for _ in range(times):
            async with permits.one(name, weight):
                order.append(name)
                await asyncio.sleep(0)

    await call("busy", 1, 1_000)
    await asyncio.gather(*(call("busy", 1, 1) for _ in range(10)), *(call("late", 1, 1) for _ in range(10)))
    assert Counter(order[1_000:1_010]) == {"busy": 5, "late": 5}


async def test_cancelled_waiters_lose_no_permit() -> None:
    permits, chance = WeightedSemaphore(3), random.Random(7)

    async def call() -> None:
        async with permits.one(chance.choice("abc"), chance.randint(1, 5)):
            await asyncio.sleep(0)

    for _ in range(200):
        tasks = [asyncio.create_task(call()) for _ in range(20)]
        await asyncio.sleep(0)
        for task in chance.sample(tasks, 10):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    async with asyncio.timeout(5), permits.one("a", 1), permits.one("b", 1), permits.one("c", 1):
        pass
