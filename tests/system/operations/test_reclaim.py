"""Reclaiming a group: what is handled again, what is buried, and what is left alone."""

from collections.abc import AsyncIterator

import pytest

from streamops.errors import Forbidden
from streamops.model.acting import Actor
from streamops.operations.console import Console
from tests.support.deployments import RunningCluster
from tests.support.operations.reclaiming import GROUP, STREAM, intent, reclaim
from tests.support.servers import RunningServer


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await Console.open(server.options, actor=Actor("ann", "here", 1)) as console:
        yield console


async def test_a_cluster_is_reclaimed_in_one_slot(cluster: RunningCluster) -> None:
    async with await Console.open(cluster.options) as console:
        server = console.engine._server
        await server.single(STREAM, "XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        await server.single(STREAM, "XADD", STREAM, "1-1", "n", "1")
        await server.single(STREAM, "XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
        await server.single(STREAM, "XCLAIM", STREAM, GROUP, "w", 0, "1-1", "IDLE", 60_000, "JUSTID")
        with pytest.raises(Forbidden, match="cannot change together"):
            await console.prepare(intent(dlq="elsewhere"))
        assert (await reclaim(console)).applied == 1
        assert (await server.single(STREAM, "XPENDING", STREAM, GROUP))[0] == 0
