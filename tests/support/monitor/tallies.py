"""Streams to count, and a budget that is soon spent."""

from collections.abc import Sequence

from streamops.model.entries import LAST_ID, ZERO_ID, EntryId
from streamops.monitor.counting import CountBudget
from streamops.monitor.lag import RangeCount
from tests.support.servers import RunningServer

BUDGET = CountBudget(per_range=50, per_collection=120, per_page=20, rounds=20)


def add_of_sizes(server: RunningServer, name: str, sizes: Sequence[int]) -> None:
    """Entries 1-1, 2-1, ... of these sizes."""
    pipeline = server.client.pipeline(transaction=False)
    for number, size in enumerate(sizes, start=1):
        pipeline.xadd(name, {"f": "x" * (size - 1)}, id=f"{number}-1")
    pipeline.execute()


def ahead(name: str, position: int = 0, entry_bytes: int = 10) -> RangeCount:
    return RangeCount(name, EntryId(position, 1) if position else ZERO_ID, LAST_ID, entry_bytes)
