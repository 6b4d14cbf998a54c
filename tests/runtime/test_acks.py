"""Acknowledgements that may come too late: whoever has the entry by now keeps it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.runtime.acks import Acknowledger
from streamops.runtime.entry import Entry, Side
from streamops.runtime.tally import Histogram
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.runtime.working import LONGEST_WAIT, pending
from tests.servers import RunningServer, StartServer

LEASE = 30.0


@asynccontextmanager
async def acknowledging(
    running: RunningServer, options: ConnectionOptions
) -> AsyncIterator[tuple[Acknowledger, Entry]]:
    """One entry that ``ann`` has in hand, freshly leased, and who acknowledges it for her."""
    running.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    raw_id: bytes = running.command("XADD", "s", "*", "n", 1)
    running.command("XREADGROUP", "GROUP", "g", "ann", "STREAMS", "s", ">")
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
        yield acknowledger, side.receive(raw_id, [b"n", b"1"], asyncio.get_running_loop().time())
    finally:
        await server.close()


def give_to_ben(running: RunningServer, entry: Entry) -> None:
    running.command("XCLAIM", "s", "g", "ben", 0, entry.id, "FORCE", "JUSTID")


async def test_a_lease_that_is_not_fresh_is_looked_at_first(any_server: RunningServer) -> None:
    async with acknowledging(any_server, any_server.options) as (acknowledger, entry):
        entry.leased_at -= LEASE
        give_to_ben(any_server, entry)
        acknowledger.add(entry)
        await acknowledger.flush()
    assert acknowledger.acknowledged == 0
    assert pending(any_server, "s") == 1


async def test_what_may_have_been_acknowledged_is_kept_and_looked_at_before_the_second_time(
    start_server: StartServer,
) -> None:
    running = start_server()
    impatient = replace(running.options, timeout=timedelta(seconds=0.3))
    async with acknowledging(running, impatient) as (acknowledger, entry):
        acknowledger.add(entry)
        running.pause()
        with pytest.raises(Unreachable):
            await acknowledger.flush()
        running.resume()
        assert acknowledger.waiting == 1
        give_to_ben(running, entry)
        async with asyncio.timeout(LONGEST_WAIT):
            while acknowledger.waiting:
                with suppress(Unreachable):
                    await acknowledger.flush()
    assert pending(running, "s") == 1
