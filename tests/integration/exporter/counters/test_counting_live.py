"""Counters against what really happened, on every server: what may be missed is told, and nothing is made up."""

import pytest

from tests.support.exporter.counters.counting_live import World, watch
from tests.support.servers import RunningServer


@pytest.mark.parametrize("seed", range(2))
async def test_whatever_operators_do_no_counter_falls(server: RunningServer, seed: int) -> None:
    world = World(server, seed)
    group, now = await watch(server, world, *world.rough)
    assert now["rewinds"] >= world.done["rewinds"] > 0
    assert group.uncounted.delivered


@pytest.mark.parametrize("rough", ["set back", "remake", "forget", "delete"])
async def test_nothing_is_counted_that_was_not_done(server: RunningServer, rough: str) -> None:
    world = World(server, 0)
    _, now = await watch(server, world, rough)
    for what in ("added", "removed", "delivered", "acked", "lost"):
        assert now[what] <= world.done[what], what
    assert now["delivered"] > 0
