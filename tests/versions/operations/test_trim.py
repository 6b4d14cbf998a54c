"""Trimming on real servers: what it removes, what it leaves, whom it names, and when it refuses."""

from collections.abc import AsyncIterator

import pytest

from streamops.operations.console import Console
from streamops.operations.trim.intent import TrimIntent
from tests.support.operations.doing import done, open_console, planned
from tests.support.operations.trim import STREAM, add_four_hundred_read_in_part
from tests.support.servers import RunningServer
from tests.support.streams import add_counting

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    add_four_hundred_read_in_part(server)
    async with await open_console(server) as opened:
        yield opened


async def test_a_lag_that_is_reported_hides_no_loss(server: RunningServer) -> None:
    """The server has it from ENTRIESREAD that one entry is unread; they are seven."""
    add_counting(server, STREAM, 1, 10)
    counter = () if server.label == "redis-6.2" else ("ENTRIESREAD", 9)
    server.command("XGROUP", "CREATE", STREAM, "billing", "3-0", *counter)
    intent = TrimIntent(stream=STREAM, maxlen=2, exact=True, safe=False)
    async with await open_console(server) as console:
        plan = await planned(console, intent)
        assert plan.effects[1] == "Group billing loses 5 entries that it has yet to read."
        assert plan.loses == "8 entries, 5 of them unread and 0 pending, counted group by group."
        assert (await done(console, intent)).applied == 8
    ((_, rest),) = server.command("XREADGROUP", "GROUP", "billing", "w1", "STREAMS", STREAM, ">")
    assert len(rest) == 2
