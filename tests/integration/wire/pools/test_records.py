"""Pools as they are listed: one that something else has written over hides no other."""

import pytest

from streamops.errors import NotFound
from streamops.resources.pools import PoolRow, pool_json
from streamops.wire.pools.records import list_pool, read_named, read_pool, read_pools
from streamops.wire.server import Server
from tests.support.servers import RunningServer


async def test_a_spoilt_pool_has_a_problem_and_the_others_are_read(
    server: RunningServer, connected: Server
) -> None:
    server.command("SET", "streamops:pool:b", "x")
    server.command("HSET", "streamops:pool:c", "desired", "3")
    for name in "abc":
        await list_pool(connected, name, "supervisors")
    first, spoilt, last = await read_pools(connected)
    assert [first.problem, last.problem] == ["", ""]
    assert last.order is not None
    assert "streamops:pool:b" in spoilt.problem
    row = PoolRow(spoilt)
    assert (row.is_trouble, row.why) == (True, spoilt.problem)
    assert {key for key, value in pool_json(row).items() if value is not None} == {"pool", "why"}


async def test_who_decides_about_a_spoilt_pool_is_told_so(server: RunningServer, connected: Server) -> None:
    server.command("SET", "streamops:pool:b", "x")
    with pytest.raises(NotFound):
        await read_named(connected, ["a", "b"])
    with pytest.raises(NotFound):
        await read_pool(connected, "b")
