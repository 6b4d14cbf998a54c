"""Pools with a desired count, and supervisors that ask for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streamops.runtime.supervisor.process import ProcessTable
from streamops.runtime.supervisor.spec import WorkerSpec
from streamops.runtime.worker import WorkerOptions
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.support.servers import RunningServer


@asynccontextmanager
async def connected(server: RunningServer) -> AsyncIterator[Server]:
    wire = await Server.connect(server.options)
    try:
        yield wire
    finally:
        await wire.close()


class SizedProcesses(ProcessTable):
    """Processes of a supervisor that never starts any: only their numbers are known."""

    def __init__(self, options: ConnectionOptions, aim: int, ready: int) -> None:
        super().__init__(WorkerSpec(app="app:app", worker=WorkerOptions(), connection=options), aim)
        self._size = aim, aim, ready

    @property
    def size(self) -> tuple[int, int, int]:
        return self._size


def tell(server: RunningServer, workers: int) -> None:
    server.command("HSET", "streamops:pool:default", "desired", workers)
