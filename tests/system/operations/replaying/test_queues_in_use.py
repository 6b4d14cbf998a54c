"""Replaying from a stream that is no dead-letter queue by its name: only what no group comes to miss."""

import pytest

from streamops.errors import StalePlan
from streamops.operations.console import Console
from tests.support.deployments import RunningCluster
from tests.support.monitor.dead_letters import make_group
from tests.support.operations.replaying.queues_in_use import EVENTS, REPLAYING, TARGET, YES, add_events


async def test_queues_in_use_are_told_between_slots_too(cluster: RunningCluster) -> None:
    source = cluster.node_of(EVENTS)
    add_events(source)
    async with await Console.open(cluster.options) as console:
        prepared = await console.prepare(REPLAYING)
        assert not all(route.atomic for route in prepared.evidence.routes)
        make_group(source, EVENTS, "late", "0")
        with pytest.raises(StalePlan, match="group late reads it by now"):
            await console.apply(prepared, YES)
    assert source.command("XLEN", EVENTS) == 3
    assert cluster.node_of(TARGET).command("EXISTS", TARGET) == 0
