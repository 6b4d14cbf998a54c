"""Metrics: their names, what they say, and that none ever falls."""

import asyncio

import pytest

from streamops.runtime import Delays, Entry, Reject, RetryLater, Streamops
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("rules and commands differ by version")


async def test_a_worker_counts_what_happens(server: RunningServer) -> None:
    app = Streamops(server.options)

    @app.handler("orders", group="g", start="0", retry=Delays((0.02,)), concurrency=3, key="n", name="bill")
    async def handle(entry: Entry) -> None:
        match entry.get("n"):
            case b"again" if entry.attempt == 1:
                raise ValueError("not yet")
            case b"later" if entry.attempt == 1:
                raise RetryLater(0.02)
            case b"never":
                raise Reject("no")
            case b"waits":
                await gate.wait()

    gate = asyncio.Event()
    for word in ("good", "good", "again", "later", "never", "waits"):
        server.command("XADD", "orders", "*", "n", word)
    async with working(app) as worker:
        await until(lambda: worker.counts[0].handled == 6)
        (now,) = worker.counts
        assert (now.stream, now.group, now.handler) == ("orders", "g", "bill")
        assert (now.in_flight, now.concurrency) == (1, 3)
        gate.set()
        await until(lambda: is_idle(server, "orders"))
        (then,) = worker.counts
    assert (then.handled, then.failures, then.duplicates) == (7, 3, 1)
    assert (then.retries, then.dead_lettered) == ({"active": 2}, {"rejected": 1})
    # Acknowledged: good, its duplicate, again, later and waits; the rejected one was given up.
    await until(lambda: sum(worker.counts[0].latencies.counts) == 5)
    assert 0 < worker.counts[0].latencies.total < 60
