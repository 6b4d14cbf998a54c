"""Acknowledgements that are gathered."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from streamops.errors import Unreachable
from streamops.runtime.acknowledger import Acknowledger
from streamops.runtime.counts import Histogram
from streamops.runtime.entry import Entry, Side
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.support.runtime.working import LONGEST_WAIT
from tests.support.servers import RunningServer

LEASE = 30.0


@asynccontextmanager
async def acknowledging(
    running: RunningServer, options: ConnectionOptions
) -> AsyncIterator[tuple[Acknowledger, Entry, Server]]:
    """One entry that ``ann`` has in hand, freshly leased, and who acknowledges it for her."""
    raw_id = deliver(running, "ann")
    side = Side(Subscription("s", "g", "ann"), retries=False, now_ms=lambda: 0.0)
    server = Server(options)
    acknowledger = Acknowledger(
        server,
        side,
        lease=LEASE,
        clock=asyncio.get_running_loop().time,
        troubled=lambda error: pytest.fail(error.message),
        confirmed=lambda: None,
        latencies=Histogram(),
    )
    try:
        yield acknowledger, side.receive(raw_id, [b"n", b"1"], asyncio.get_running_loop().time()), server
    finally:
        await server.close()


def deliver(running: RunningServer, consumer: str, entry_id: bytes | str = "*") -> bytes:
    """Add an entry, and let a consumer have it."""
    running.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    raw_id: bytes = running.command("XADD", "s", entry_id, "n", 1)
    running.command("XREADGROUP", "GROUP", "g", consumer, "STREAMS", "s", ">")
    return raw_id


async def flush(acknowledger: Acknowledger) -> None:
    """Send everything; whoever is told that the server is another one tries again."""
    async with asyncio.timeout(LONGEST_WAIT):
        while acknowledger.unconfirmed:
            with suppress(Unreachable):
                await acknowledger.flush()
