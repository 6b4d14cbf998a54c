"""Streams and other keys to discover."""

from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.support.servers import RunningServer


def add_streams(server: RunningServer, *names: str) -> None:
    for name in names:
        server.command("XADD", name, "*", "f", "v")


async def names(server: RunningServer, watch: Watch) -> list[str]:
    async with await Console.open(server.options, watch) as console:
        await console.discover()
        assert console.discovery.complete
        return console.discovery.names
