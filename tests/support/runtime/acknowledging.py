"""Acknowledgements that are gathered."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from streamops.errors import Unreachable
from streamops.runtime.entry import ConsumerStream, Entry
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.support.runtime.consumer_streams import stream_of_ann, worker_context
from tests.support.runtime.working import LONGEST_WAIT
from tests.support.servers import RunningServer

LEASE = 30.0


@asynccontextmanager
async def acknowledging(
    running: RunningServer, options: ConnectionOptions
) -> AsyncIterator[tuple[ConsumerStream, Entry, Server]]:
    """One entry that ``ann`` has in flight, freshly leased, and the stream that acknowledges it for her."""
    raw_id = deliver(running, "ann")
    context = worker_context(options)
    stream = stream_of_ann(context)
    try:
        (entry,) = stream.receive([(raw_id, [b"n", b"1"])], time.monotonic())
        yield stream, entry, context.server
    finally:
        await context.server.close()


def deliver(running: RunningServer, consumer: str, entry_id: bytes | str = "*") -> bytes:
    """Add an entry, and let a consumer have it."""
    running.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    raw_id: bytes = running.command("XADD", "s", entry_id, "n", 1)
    running.command("XREADGROUP", "GROUP", "g", consumer, "STREAMS", "s", ">")
    return raw_id


async def flush(stream: ConsumerStream) -> None:
    """Send everything; whoever is told that the server is another one tries again."""
    async with asyncio.timeout(LONGEST_WAIT):
        while stream.unconfirmed:
            with suppress(Unreachable):
                await stream.flush()
