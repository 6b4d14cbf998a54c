"""Running an application's worker in a test, and waiting for what it does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from operator import ne
from typing import Any

from streamops.model.pools import WorkerState
from streamops.runtime import Streamops, Worker, WorkerOptions
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

QUICK = WorkerOptions(beat=timedelta(seconds=0.1), grace=timedelta(seconds=5), block=timedelta(seconds=0.2))
LONGEST_WAIT = 40.0


@asynccontextmanager
async def working(app: Streamops, options: WorkerOptions = QUICK) -> AsyncIterator[Worker]:
    """A worker at work; drained at the end."""
    worker = app.worker(options)
    task = asyncio.create_task(worker.run())
    try:
        await until(lambda: task.done() or worker.state is not WorkerState.STARTING)
        if task.done():
            task.result()
        yield worker
    finally:
        worker.stop()
        async with asyncio.timeout(LONGEST_WAIT):
            await task


async def until(true: Callable[[], Any], seconds: float = LONGEST_WAIT) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for is on the server
            await asyncio.sleep(0.005)


async def beaten(server: RunningServer, *workers: Worker, times: int) -> None:
    """Wait until workers have told the server so many times more that they live; meanwhile each looks around."""

    def told(worker: Worker) -> bytes | None:
        value: bytes | None = server.command("HGET", f"streamops:worker:{worker.id}", "beat_ms")
        return value

    async def once() -> None:
        last = [told(worker) for worker in workers]
        await until(lambda: all(map(ne, map(told, workers), last)))

    for _ in range(times):
        await once()


async def drained_beside(worker: Worker, held: asyncio.Event) -> None:
    """Stop a worker, and let go what its handlers wait for once it drains."""
    worker.stop()
    await until(lambda: worker.state is WorkerState.DRAINING)
    held.set()


def unread(server: RunningServer, stream: str, group: str = "g") -> int:
    """How many entries of a stream a group has not been given."""
    for row in server.command("XINFO", "GROUPS", stream):
        fields = dict(zip(row[::2], row[1::2], strict=True))
        if fields[b"name"] == group.encode():
            return len(server.command("XRANGE", stream, f"({fields[b'last-delivered-id'].decode()}", "+"))
    raise AssertionError(f"no group {group}")


def is_idle(server: RunningServer, stream: str, group: str = "g") -> bool:
    """Whether a group has nothing to do: nothing unread, pending, due again or delayed."""
    retries = f"{{{stream}}}:retry:{group}"
    return (
        unread(server, stream, group) == 0
        and pending_count(server, stream, group) == 0
        and server.command("XLEN", retries) == 0
        and server.command("ZCARD", f"{{{stream}}}:delayed") == 0
    )


def keys(server: RunningServer) -> set[str]:
    """All keys."""
    return {key.decode() for key in server.command("KEYS", "*")}
