"""Benchmarks on real servers: figures for everything, and no key left, however it ends."""

import asyncio

import pytest

from streamops.errors import Unreachable
from streamops.model.bench import BenchPlan
from streamops.runtime.bench.measuring import measure
from streamops.runtime.bench.place import new_tag
from tests.support.runtime.bench.measuring import nobody
from tests.support.runtime.working import keys, until
from tests.support.servers import RunningServer, StartServer


async def test_what_is_to_be_kept_is_kept_for_an_hour(server: RunningServer) -> None:
    plan = BenchPlan(measures=("produce",), entries=100, keep=True)
    await measure(server.options, plan, tag := new_tag(), nobody)
    assert keys(server) >= {f"{tag}:publish-batches", f"{tag}:publish-at-once"}
    assert server.command("XLEN", f"{tag}:publish-batches") == 100
    assert all(3_500 < server.command("TTL", key) <= 3_600 for key in keys(server))


@pytest.mark.parametrize("name", ["produce", "consume", "latency"])
async def test_whoever_cancels_it_finds_nothing_left(server: RunningServer, name: str) -> None:
    plan = BenchPlan(measures=(name,), entries=100_000, rate=10)
    task = asyncio.create_task(measure(server.options, plan, new_tag(), nobody))
    await until(lambda: len(keys(server)) > 1)
    # However soon: no key would stay for ever.
    kept = {key for key in keys(server) if server.command("TTL", key) == -1}
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not kept
    assert keys(server) == set()


async def test_a_server_that_goes_is_told_of(start_server: StartServer) -> None:
    server = start_server()
    plan = BenchPlan(measures=("produce",), entries=1_000_000)
    task = asyncio.create_task(measure(server.options, plan, new_tag(), nobody))
    await until(lambda: len(keys(server)) > 1)
    server.stop()
    with pytest.raises(Unreachable):
        await task
