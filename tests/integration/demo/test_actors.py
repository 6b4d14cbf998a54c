import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from random import Random

import pytest

from streamops.demo.actors import (
    MAX_DELIVERIES,
    DemoWorker,
    check_fraud,
    produce,
    work_in_batches,
    work_steadily,
)
from streamops.demo.client import DemoClient
from streamops.demo.payloads import order, poisoned_order
from streamops.demo.sources import Source
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

SOON = timedelta(milliseconds=1)
STREAM = "orders:events"


async def play(actor: Coroutine[None, None, None], until: Callable[[], bool]) -> None:
    """Let an actor, which never ends by itself, play until something is so."""
    task = asyncio.ensure_future(actor)
    try:
        async with asyncio.timeout(10):
            while not until():
                assert not task.done(), task.exception()
                await asyncio.sleep(0.01)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def worker(server: RunningServer) -> DemoWorker:
    server.command("XGROUP", "CREATE", STREAM, "fraud", "0", "MKSTREAM")
    return DemoWorker(STREAM, "fraud", "fraud-1", batch=2, effort=timedelta(0))


def delivered(server: RunningServer) -> bool:
    (group,) = server.client.xinfo_groups(STREAM)
    entries = server.command("XREVRANGE", STREAM, "+", "-", "COUNT", "1")
    return bool(entries) and group["last-delivered-id"] == entries[0][0]


async def test_producer_adds_entry_after_entry_and_trims(server: RunningServer, client: DemoClient) -> None:
    source = Source(STREAM, order, per_second=2_000, cap=200, history=timedelta(seconds=1))
    added: list[int] = []

    def enough() -> bool:
        last = server.command("XREVRANGE", STREAM, "+", "-", "COUNT", "1")
        added.extend(int(last[0][1][3].removeprefix(b"ord_")) for _ in last)
        return bool(added) and added[-1] >= source.past_entries + 1_000

    await play(produce(client, source, Random(1)), enough)
    assert server.command("XLEN", STREAM) <= 400


async def test_steady_worker_acknowledges_everything(
    server: RunningServer, client: DemoClient, worker: DemoWorker
) -> None:
    await client.add(STREAM, [order(Random(1), number) for number in range(7)], cap=100)
    await play(
        work_steadily(client, worker),
        lambda: delivered(server) and pending_count(server, STREAM, "fraud") == 0,
    )


async def test_batch_worker_takes_all_there_is_at_once(
    server: RunningServer, client: DemoClient, worker: DemoWorker
) -> None:
    await client.add(STREAM, [order(Random(1), number) for number in range(7)], cap=100)
    await play(
        work_in_batches(client, worker, every=SOON),
        lambda: delivered(server) and pending_count(server, STREAM, "fraud") == 0,
    )


async def test_poisoned_order_ends_as_a_dead_letter_after_so_many_deliveries(
    server: RunningServer, client: DemoClient, worker: DemoWorker
) -> None:
    orders = [order(Random(1), 1), poisoned_order(Random(1), 2), order(Random(1), 3)]
    await client.add(STREAM, orders, cap=100)
    (poisoned,) = server.command("XRANGE", STREAM, "-", "+")[1:2]
    queue = "{orders:events}:dlq"

    async def hurry() -> None:
        # The fraud check waits for new orders between its attempts.
        while True:
            await client.add(STREAM, [order(Random(1), 4)], cap=100)
            await asyncio.sleep(0.005)

    async def both() -> None:
        async with asyncio.TaskGroup() as actors:
            actors.create_task(hurry())
            actors.create_task(check_fraud(client, worker, retry_after=SOON))

    await play(both(), lambda: server.command("XLEN", queue) == 1)
    ((_, letter),) = server.command("XRANGE", queue, "-", "+")
    assert letter[: len(poisoned[1])] == poisoned[1]
    reserved = dict(zip(letter[::2], letter[1::2], strict=True))
    assert reserved[b"_so_origin_id"] == poisoned[0]
    assert reserved[b"_so_reason"] == b"max-deliveries"
    assert reserved[b"_so_deliveries"] == str(MAX_DELIVERIES).encode()
    assert server.command("XPENDING", STREAM, "fraud", poisoned[0], poisoned[0], "1") == []
