"""A collection costs what it should, and what it cannot read it says."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.support.monitor.collect import add_stream
from tests.support.servers import StartServer


async def test_server_that_restarts_between_two_collections(start_server: StartServer) -> None:
    first = start_server()
    add_stream(first, "orders")
    options = replace(first.tcp_options, timeout=timedelta(seconds=1))
    async with await Console.open(options, Watch(("orders",))) as console:
        assert len((await console.collect()).streams) == 1
        first.kill()
        with pytest.raises(Unreachable):
            await console.collect()
        second = start_server("--port", str(first.port))
        add_stream(second, "orders", entries=7)
        assert (await console.collect()).streams[0].length == 7
        second.kill()
        third = start_server("--port", str(first.port))
        add_stream(third, "orders", entries=9)
        assert (await console.collect()).streams[0].length == 9
