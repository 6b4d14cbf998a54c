"""Counting keeps to its budget, serves what is cheap first, and never counts wrong."""

import pytest

from streamops.model.entries import ZERO_ID, EntryId
from streamops.monitor.counting import CountBudget, Counter
from streamops.monitor.lag import RangeCount
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.support.monitor.tallies import add_of_sizes, ahead
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def test_counts_what_is_there(server: RunningServer, connected: Server, depth: Depth) -> None:
    add_of_sizes(server, "orders", [10] * 45)
    server.command("XDEL", "orders", "7-1", "30-1")
    spans = [ahead("orders", 0), ahead("orders", 5), ahead("orders", 44), ahead("orders", 45), ahead("gone")]
    spans += [
        RangeCount("orders", ZERO_ID, EntryId(30, 1), 10),
        RangeCount("orders", ZERO_ID, EntryId(2, 0), 10),
    ]
    await Counter(connected, CountBudget()).count(spans, depth)
    assert [span.counted for span in spans] == [43, 38, 1, 0, 0, 28, 1]
    assert all(span.complete and not span.failed for span in spans)
