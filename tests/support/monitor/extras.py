"""Queues beside streams: dead letters and delayed messages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

from streamops.model.pools import WorkerHeartbeat, WorkerState
from streamops.monitor.queue_metrics import QueueMetricsReader
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire.options import ConnectionOptions

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@asynccontextmanager
async def extras_of(
    options: ConnectionOptions, watch: Watch | None = None
) -> AsyncIterator[tuple[QueueMetricsReader, Console]]:
    async with await Console.open(options, watch) as console:
        with suppress(Exception):
            await console.discover()
        yield QueueMetricsReader(console.place, console.discovery), console


def heart(name: str, pool: str, state: WorkerState = WorkerState.RUNNING) -> WorkerHeartbeat:
    return WorkerHeartbeat(
        id=name, host="h", pid=1, app="shop:app", pool=pool, consumers=(), slots=4, busy=1, state=state
    )


def at(ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=ms)
