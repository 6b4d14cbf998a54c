"""Counters against what really happened: what may be missed is told, and nothing is made up."""

import pytest

from tests.support.exporter.counts_live import World, watch
from tests.support.servers import RunningServer


async def test_counters_never_fall_whatever_operators_do(server: RunningServer) -> None:
    world = World(server, 0)
    group, now = await watch(server, world, *world.rough)
    assert now["rewinds"] >= world.done["rewinds"] > 0
    assert group.uncounted.delivered


@pytest.mark.parametrize("rough", ["set back", "remake"])
async def test_counters_count_nothing_that_was_not_done(server: RunningServer, rough: str) -> None:
    world = World(server, 0)
    _, now = await watch(server, world, rough)
    for what in ("added", "removed", "delivered", "acked", "lost"):
        assert now[what] <= world.done[what], what
    assert now["delivered"] > 0
