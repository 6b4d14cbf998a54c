"""Acknowledgements that may come too late: whoever has the entry by now keeps it."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.runtime.entry import Entry
from tests.support.runtime.acknowledging import LEASE, acknowledging, flush
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import pending_count


def give_to_ben(running: RunningServer, entry: Entry) -> None:
    running.command("XCLAIM", "s", "g", "ben", 0, entry.id, "FORCE", "JUSTID")


async def test_a_lease_that_is_not_fresh_is_looked_at_first(server: RunningServer) -> None:
    async with acknowledging(server, server.options) as (stream, entry, _):
        entry.leased_at -= LEASE
        give_to_ben(server, entry)
        stream.finish(entry)
        await stream.flush()
    assert stream.acknowledged == 0
    assert pending_count(server, "s", "g") == 1


async def test_what_may_have_been_acknowledged_is_kept_and_looked_at_before_the_second_time(
    start_server: StartServer,
) -> None:
    running = start_server()
    impatient = replace(running.options, timeout=timedelta(seconds=0.3))
    async with acknowledging(running, impatient) as (stream, entry, _):
        stream.finish(entry)
        running.pause()
        with pytest.raises(Unreachable):
            await stream.flush()
        running.resume()
        assert len(stream.unconfirmed) == 1
        give_to_ben(running, entry)
        await flush(stream)
    assert pending_count(running, "s", "g") == 1
