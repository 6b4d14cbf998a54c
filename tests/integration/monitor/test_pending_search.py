"""Looking for pending entries, page by page."""

from datetime import timedelta

import pytest

from streamops.model.entries import EntryId, PendingEntry
from streamops.monitor.search import PAGE_ROWS, PendingPage, PendingSearch, search_pending
from streamops.operations.console import Console
from tests.support.invented import NOW, minutes, seconds
from tests.support.servers import RunningServer


def row(number: int) -> PendingEntry:
    """Entry ``number``: every third is old, every fifth was delivered often."""
    idle = minutes(20) if number % 3 == 0 else seconds(1)
    return PendingEntry(EntryId(number, 0), f"worker-{number % 2}", idle, 7 if number % 5 == 0 else 1)


class Group:
    """Pending entries 1 to ``length``."""

    def __init__(self, length: int) -> None:
        self.rows = [row(number) for number in range(1, length + 1)]
        self.read = 0

    async def read_page(self, *, after: EntryId | None, count: int, consumer: str | None) -> PendingPage:
        left = [
            each
            for each in self.rows
            if (after is None or each.id > after) and consumer in (None, each.consumer)
        ]
        shown = tuple(left[:count])
        self.read += len(shown)
        return PendingPage(shown, shown[-1].id if len(shown) == count else None, NOW)


@pytest.mark.parametrize(
    ("query", "found", "scanned", "next_id"),
    [
        (PendingSearch(), list(range(1, 11)), 10, None),
        (PendingSearch(limit=4), [1, 2, 3, 4], 4, EntryId(4, 0)),
        (PendingSearch(after=EntryId(8, 0)), [9, 10], 2, None),
        (PendingSearch(after=EntryId(10, 0)), [], 0, None),
        (PendingSearch(consumer="worker-0"), [2, 4, 6, 8, 10], 5, None),
        (PendingSearch(min_idle=minutes(10)), [3, 6, 9], 10, None),
        (PendingSearch(min_deliveries=5), [5, 10], 10, None),
        (PendingSearch(min_deliveries=5, limit=1), [5], 5, EntryId(5, 0)),
        (PendingSearch(min_idle=minutes(10), max_scan=4), [3], 4, EntryId(4, 0)),
        (PendingSearch(min_idle=timedelta(hours=1)), [], 10, None),
    ],
)
async def test_what_is_found_and_where_to_go_on(
    query: PendingSearch, found: list[int], scanned: int, next_id: EntryId | None
) -> None:
    result = await search_pending(Group(10).read_page, query)
    assert [each.id.ms for each in result.rows] == found
    assert (result.scanned, result.next_id) == (scanned, next_id)


async def test_going_on_from_where_it_stopped_finds_the_rest() -> None:
    group, found, after = Group(3_000), list[int](), None
    while True:
        result = await search_pending(
            group.read_page, PendingSearch(after=after, min_idle=minutes(10), limit=70)
        )
        found += [each.id.ms for each in result.rows]
        after = result.next_id
        if after is None:
            break
    assert found == list(range(3, 3_001, 3))


async def test_without_filters_no_more_is_read_than_is_shown() -> None:
    group = Group(5_000)
    await search_pending(group.read_page, PendingSearch(limit=PAGE_ROWS + 5))
    assert group.read == PAGE_ROWS + 5


async def test_a_search_of_pending_entries_reads_pages_of_a_server(server: RunningServer) -> None:
    client = server.client
    client.xgroup_create("orders", "billing", "0", mkstream=True)
    for number in range(1, 21):
        client.xadd("orders", {"n": str(number)}, id=f"{number}-0")
    client.xreadgroup("billing", "worker-1", {"orders": ">"}, count=15)
    client.xreadgroup("billing", "worker-2", {"orders": ">"}, count=15)
    async with await Console.open(server.options) as console:

        async def read_page(*, after: EntryId | None, count: int, consumer: str | None) -> PendingPage:
            return await console.read_pending(
                "orders", "billing", after=after, count=count, consumer=consumer
            )

        second = await search_pending(read_page, PendingSearch(consumer="worker-2"))
        assert [each.id.ms for each in second.rows] == [16, 17, 18, 19, 20]
        first = await search_pending(read_page, PendingSearch(limit=15))
        assert (len(first.rows), first.next_id) == (15, EntryId(15, 0))
