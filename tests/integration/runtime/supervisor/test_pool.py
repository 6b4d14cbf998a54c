"""``streamops run --workers auto``: as many workers as the pool is told, shared among its supervisors."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.errors import TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.operations.console import Console
from streamops.runtime.supervisor.pool import PoolSync, share
from streamops.targets.local import LocalTarget
from tests.support.runtime.permissions import Users
from tests.support.runtime.supervisor.pools import SizedProcesses, connected, tell
from tests.support.servers import RunningServer, StartServer


@given(desired=st.integers(0, 500), supervisors=st.sets(st.text(min_size=1), min_size=1, max_size=9))
def test_shares_add_up_and_differ_by_one_at_most(desired: int, supervisors: set[str]) -> None:
    shares = [share(desired, list(supervisors), one) for one in supervisors]
    assert sum(shares) == desired
    assert max(shares) - min(shares) <= 1


async def test_a_number_told_meanwhile_is_not_overwritten(server: RunningServer) -> None:
    async with connected(server) as wire:
        target = LocalTarget(wire, "default", "a test")
        with pytest.raises(TargetError, match="no supervisor"):
            await target.read()
        tell(server, 2)
        seen = await target.read()
        tell(server, 5)
        with pytest.raises(TargetChanged):
            await target.resize(3, seen, reason="a test", key="1")
        await target.resize(6, await target.read(), reason="a test", key="2")
        assert await target.read() == PoolSize(ordered=6, ready=0, version="6")


async def test_a_supervisor_that_may_not_list_its_pool_follows_it_all_the_same(server: RunningServer) -> None:
    tell(server, 3)
    processes = SizedProcesses(Users(server).limited(), 1, 1)
    async with aclosing(PoolSync(processes, 1).sizes()) as sizes, asyncio.timeout(20):
        assert await anext(sizes) == 3
    assert server.command("EXISTS", "streamops:pools") == 0


async def test_a_supervisor_whose_reload_names_another_server_follows_the_pool_there(
    server: RunningServer, start_server: StartServer
) -> None:
    other = start_server()
    tell(server, 3)
    tell(other, 5)
    processes = SizedProcesses(server.options, 1, 1)
    async with aclosing(PoolSync(processes, 1).sizes()) as sizes, asyncio.timeout(20):
        assert await anext(sizes) == 3
        processes.spec = replace(processes.spec, connection=other.options)
        assert await anext(sizes) == 5
        assert server.command("EXISTS", "streamops:supervisors:default") == 0
    assert other.command("EXISTS", "streamops:supervisors:default") == 0


async def test_supervisors_that_no_controller_leads_are_listed_with_the_workers_that_they_have(
    server: RunningServer,
) -> None:
    sync = PoolSync(SizedProcesses(server.options, 3, 2), 3)

    async def follow() -> list[int]:
        return [size async for size in sync.sizes()]

    following = asyncio.create_task(follow())
    async with await Console.open(server.options) as console, asyncio.timeout(20):
        while True:
            pools = await console.pools.with_sizes(await console.pools.all(), await console.pools.clock())
            sizes = [(pool.name, size.ordered, size.ready) for pool, size in pools if size is not None]
            if sizes:
                break
            await asyncio.sleep(0)
        assert sizes[0][0] == "default"
        assert sizes[0][2] == 2
    following.cancel()
    await asyncio.wait([following])
