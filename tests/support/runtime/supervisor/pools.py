"""A pool whose supervisors are told a number of workers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streamops.wire.server import Server
from tests.support.servers import RunningServer


@asynccontextmanager
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    wire = await Server.connect(server.options)
    try:
        yield wire
    finally:
        await wire.close()


def tell(server: RunningServer, workers: int) -> None:
    server.command("HSET", "streamops:pool:default", "desired", workers)
