"""Queues of delayed messages by a configured name, and those whose stream does not exist."""

from collections.abc import AsyncIterator

import pytest

from streamops.errors import Forbidden
from streamops.operations.console import Console
from tests.support.deployments import RunningCluster
from tests.support.operations.engine.delayed_names import NAMED, act, open_at, publishing
from tests.support.servers import RunningServer


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await open_at(server.options, delayed=NAMED) as opened:
        yield opened


async def test_on_a_cluster_it_has_to_share_the_slot(cluster: RunningCluster) -> None:
    async with await open_at(
        cluster.options, delayed={"orders": "later", "sales": "{sales}:soon"}
    ) as console:
        with pytest.raises(Forbidden, match="cannot change together"):
            await console.prepare(publishing("a"))
        assert (await act(console, publishing("a", "sales"))).applied == 1
        assert (await act(console, publishing("b", "gone"))).applied == 1
        found = await console.find_delayed()
        assert [queue.stream for queue in found.queues if not queue.stream.startswith("orders")] == [
            "gone",
            "sales",
        ]
