"""Searches: bounded, and truthful about how far they got."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import SettingsError
from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, StreamEntry
from streamops.model.expressions import Expression
from streamops.monitor.search import (
    EntryPage,
    EntryWords,
    Search,
    SearchProgress,
    SearchResult,
    StopReason,
    search_entries,
)
from streamops.operations.console import Console
from tests.support.servers import RunningServer


def entry(number: int) -> StreamEntry:
    return StreamEntry(EntryId(number, 0), ((b"n", b"%d" % number), (b"odd", b"%d" % (number % 2))))


class Stream:
    """Entries 1 to ``length``, in pages of at most ``page``."""

    def __init__(self, length: int, page: int = 1_000) -> None:
        self.entries = [entry(number) for number in range(1, length + 1)]
        self.page = page
        self.read = 0

    async def read_page(self, *, start: EntryId, end: EntryId, count: int, newest_first: bool) -> EntryPage:
        found = [each for each in self.entries if start <= each.id <= end]
        if newest_first:
            found.reverse()
        shown = found[: min(count, self.page)]
        self.read += len(shown)
        return EntryPage(tuple(shown), shown[-1].id if len(found) > len(shown) else None)


def numbers(result: SearchResult) -> list[int]:
    return [each.id.ms for each in result.entries]


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("page", [1, 2, 3, 7, 100])
async def test_every_entry_is_looked_at_once(page: int, *, newest_first: bool) -> None:
    stream = Stream(7, page)
    result = await search_entries(stream.read_page, Search(newest_first=newest_first))
    order = [7, 6, 5, 4, 3, 2, 1] if newest_first else [1, 2, 3, 4, 5, 6, 7]
    assert numbers(result) == order
    assert (result.scanned, stream.read) == (7, 7)
    assert (result.first_id, result.last_id) == (EntryId(order[0], 0), EntryId(order[-1], 0))
    assert result.stopped is StopReason.END


@pytest.mark.parametrize(
    ("query", "found", "scanned", "stopped"),
    [
        (Search(limit=3), [1, 2, 3], 3, StopReason.LIMIT),
        (Search(limit=2, fields=((b"odd", b"0"),)), [2, 4], 4, StopReason.LIMIT),
        (Search(max_scan=5, fields=((b"odd", b"0"),)), [2, 4], 5, StopReason.MAX_SCAN),
        (Search(fields=((b"odd", b"0"), (b"n", b"4"))), [4], 10, StopReason.END),
        (Search(fields=((b"odd", b"9"),)), [], 10, StopReason.END),
        (Search(fields=((b"n", b"4"),), where=Expression("fields.odd == '1'")), [], 10, StopReason.END),
        (Search(where=Expression("json.n > `8`")), [9, 10], 10, StopReason.END),
        (Search(start=EntryId(4, 0), end=EntryId(6, 0)), [4, 5, 6], 3, StopReason.END),
        (Search(start=EntryId(11, 0)), [], 0, StopReason.END),
        (Search(max_scan=10), list(range(1, 11)), 10, StopReason.END),
        (Search(newest_first=True, limit=2), [10, 9], 2, StopReason.LIMIT),
        (Search(newest_first=True, start=EntryId(9, 0)), [10, 9], 2, StopReason.END),
    ],
)
async def test_where_a_search_stops_and_why(
    query: Search, found: list[int], scanned: int, stopped: StopReason
) -> None:
    result = await search_entries(Stream(10, 4).read_page, query)
    assert (numbers(result), result.scanned, result.stopped) == (found, scanned, stopped)


async def test_an_empty_range_has_no_ids() -> None:
    result = await search_entries(Stream(0).read_page, Search())
    assert (result.first_id, result.last_id, result.scanned) == (None, None, 0)


async def test_progress_is_told_page_by_page() -> None:
    told: list[SearchProgress] = []
    await search_entries(Stream(5, 2).read_page, Search(fields=((b"odd", b"1"),)), told.append)
    assert told == [
        SearchProgress(2, 1, EntryId(2, 0)),
        SearchProgress(4, 2, EntryId(4, 0)),
        SearchProgress(5, 3, EntryId(5, 0)),
    ]


async def test_no_more_than_the_budget_is_read() -> None:
    stream = Stream(5_000)
    await search_entries(stream.read_page, Search(max_scan=1_234, fields=((b"n", b"0"),)))
    assert stream.read == 1_234


async def test_an_expression_that_cannot_say_stops_the_search() -> None:
    with pytest.raises(SettingsError, match="entry 1-0"):
        await search_entries(Stream(3).read_page, Search(where=Expression("fields.n > `1`")))


@pytest.mark.parametrize("newest_first", [False, True])
@given(length=st.integers(0, 12), start=st.integers(0, 13), end=st.integers(0, 13), page=st.integers(1, 5))
async def test_a_range_is_what_it_says(
    *, length: int, start: int, end: int, page: int, newest_first: bool
) -> None:
    query = Search(start=EntryId(start, 0), end=EntryId(end, 0), newest_first=newest_first)
    result = await search_entries(Stream(length, page).read_page, query)
    assert sorted(numbers(result)) == [number for number in range(1, length + 1) if start <= number <= end]


async def test_a_search_finds_entries_of_a_server_in_both_directions(server: RunningServer) -> None:
    for number in range(1, 2_501):
        server.client.xadd(
            "orders", {"n": str(number), "kind": "rare" if number == 2_400 else "common"}, id=f"{number}-1"
        )
    async with await Console.open(server.options) as console:
        found = await console.search("orders", Search(fields=((b"kind", b"rare"),)))
        assert numbers(found) == [2_400]
        assert found.scanned == 2_500
        backwards = await console.search(
            "orders", Search(fields=((b"kind", b"rare"),), newest_first=True, limit=1)
        )
        assert (numbers(backwards), backwards.scanned) == ([2_400], 101)
        assert (await console.search("missing", Search())).scanned == 0


def test_the_whole_stream_is_searched_unless_told_otherwise() -> None:
    assert (Search().start, Search().end) == (ZERO_ID, LAST_ID)


@pytest.mark.parametrize(
    ("query", "scanned", "stopped"),
    [
        (Search(page=3, max_bytes=1), 3, StopReason.MAX_BYTES),
        (Search(page=3, max_bytes=30), 6, StopReason.MAX_BYTES),
        (Search(page=3, max_time=timedelta(0)), 3, StopReason.MAX_TIME),
        (Search(page=100, max_time=timedelta(0)), 10, StopReason.END),
        (Search(page=4, max_time=timedelta(hours=1)), 10, StopReason.END),
    ],
)
async def test_a_budget_of_bytes_or_time_ends_it_after_a_page(
    query: Search, scanned: int, stopped: StopReason
) -> None:
    stream = Stream(10)
    result = await search_entries(stream.read_page, query)
    assert (result.scanned, result.stopped) == (scanned, stopped)
    assert result.size == sum(one.size for one in stream.entries[:scanned])


async def test_words_are_looked_for_beside_everything_else() -> None:
    query = Search(words=EntryWords(["odd", "7"]), fields=((b"odd", b"1"),), newest_first=True)
    assert numbers(await search_entries(Stream(20).read_page, query)) == [17, 7]
