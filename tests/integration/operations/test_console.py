"""The Python API: entries and pending entries on demand, as they are and never too much at once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from itertools import count

import pytest
from msgspec.structs import replace

from streamops.errors import NotFound, Refused
from streamops.model.entries import LAST_ID, MAX_PART, ZERO_ID, EntryId, PendingEntry, StreamEntry
from streamops.monitor.search import EntryPage, PendingPage
from streamops.operations.console import FIRST_PAGE, PAGE_BYTES, TAIL_ENTRIES, Console
from streamops.wire.options import Secret
from tests.support.servers import RunningServer
from tests.support.streams import add_numbered

STREAM = "orders"
POLL = timedelta(milliseconds=5)


def numbers(page: EntryPage) -> list[int]:
    return [entry.id.ms for entry in page.entries]


async def whole(console: Console, many: int, *, newest_first: bool) -> list[int]:
    """All entries, page by page."""
    found: list[int] = []
    start, end = ZERO_ID, LAST_ID
    while True:
        page = await console.read_entries(STREAM, start=start, end=end, count=many, newest_first=newest_first)
        assert len(page.entries) <= many
        found += numbers(page)
        if page.next_id is None:
            return found
        assert page.entries[-1].id == page.next_id
        if newest_first:
            end = page.next_id.previous()
        else:
            start = page.next_id.next()


@pytest.mark.parametrize("many", [1, 7, 10, 11, 25, 50, 51])
async def test_pages_in_both_directions(server: RunningServer, console: Console, many: int) -> None:
    add_numbered(server, STREAM, 1, 50)
    assert await whole(console, many, newest_first=False) == list(range(1, 51))
    assert await whole(console, many, newest_first=True) == list(range(50, 0, -1))


async def test_range_is_inclusive(server: RunningServer, console: Console) -> None:
    add_numbered(server, STREAM, 1, 50)
    within = partial(console.read_entries, STREAM, start=EntryId(20, 1), end=EntryId(30, 1))
    assert numbers(await within()) == list(range(20, 31))
    backwards = await within(newest_first=True, count=5)
    assert numbers(backwards) == [30, 29, 28, 27, 26]
    assert backwards.next_id == EntryId(26, 1)
    assert numbers(await console.read_entries(STREAM, start=EntryId(20, 2), end=EntryId(21, 0))) == []
    assert numbers(await console.read_entries(STREAM, start=EntryId(30, 0), end=EntryId(20, 0))) == []


async def test_page_that_ends_with_the_range_is_the_last(server: RunningServer, console: Console) -> None:
    add_numbered(server, STREAM, 1, 20)
    forwards = await console.read_entries(STREAM, end=EntryId(10, 1), count=10)
    backwards = await console.read_entries(STREAM, start=EntryId(11, 1), count=10, newest_first=True)
    assert (numbers(forwards), forwards.next_id) == (list(range(1, 11)), None)
    assert (numbers(backwards), backwards.next_id) == (list(range(20, 10, -1)), None)


async def test_first_and_last_id_of_all(server: RunningServer, console: Console) -> None:
    smallest, greatest = EntryId(0, 1), LAST_ID
    for entry_id in (smallest, EntryId(MAX_PART, 0), greatest):
        server.command("XADD", STREAM, str(entry_id), "f", "v")
    for many in (1, 2, 3, 4):
        assert len(await whole(console, many, newest_first=False)) == 3
        assert len(await whole(console, many, newest_first=True)) == 3
    assert (await console.read_entry(STREAM, smallest)) is not None
    assert (await console.read_entry(STREAM, greatest)) is not None
    assert (await console.read_entry(STREAM, ZERO_ID)) is None


async def test_a_page_of_no_entries_is_empty(server: RunningServer, console: Console) -> None:
    assert await console.read_entries("nothing") == EntryPage((), None)
    add_numbered(server, STREAM, 1, 1)
    assert await console.read_entries(STREAM, count=0) == EntryPage((), None)
    server.command("XDEL", STREAM, "1-1")
    assert await console.read_entries(STREAM) == EntryPage((), None)
    assert await console.read_entry(STREAM, EntryId(1, 1)) is None


async def test_entries_are_byte_for_byte(server: RunningServer, console: Console) -> None:
    fields = (b"b", b"1", b"a", b"\xff\x00\x1b", b"b", b"2", b"", b"")
    server.command("XADD", STREAM, "1-1", *fields)
    entry = await console.read_entry(STREAM, EntryId(1, 1))
    assert entry == StreamEntry(EntryId(1, 1), tuple(zip(fields[::2], fields[1::2], strict=True)))


@pytest.mark.parametrize("newest_first", [False, True])
async def test_pages_of_large_entries_are_short(
    server: RunningServer, console: Console, *, newest_first: bool
) -> None:
    size = 300_000
    add_numbered(server, STREAM, 1, 40, size=size)
    page = await console.read_entries(STREAM, count=1000, newest_first=newest_first)
    assert FIRST_PAGE <= len(page.entries) < 40
    assert sum(entry.size for entry in page.entries) <= PAGE_BYTES + size
    assert len(await whole(console, 1000, newest_first=newest_first)) == 40


async def test_key_that_is_no_stream(server: RunningServer, console: Console) -> None:
    server.command("SET", STREAM, "text")
    reads = (
        lambda: console.read_entries(STREAM),
        lambda: console.read_pending(STREAM, "billing"),
        lambda: console.read_pending_summary(STREAM, "billing"),
        lambda: console.scan_pending(STREAM, "billing"),
        lambda: anext(console.tail(STREAM)),
    )
    for read in reads:
        with pytest.raises(NotFound, match="not a stream"):
            await read()


async def test_reading_pending_entries_of_a_missing_group_is_not_found(
    server: RunningServer, console: Console
) -> None:
    add_numbered(server, STREAM, 1, 1)
    for stream in (STREAM, "nothing"):
        reads = (
            lambda name=stream: console.read_pending(name, "billing"),
            lambda name=stream: console.read_pending_summary(name, "billing"),
            lambda name=stream: console.scan_pending(name, "billing"),
        )
        for read in reads:
            with pytest.raises(NotFound, match=f"group {stream}/billing: no such group"):
                await read()


async def take(tail: AsyncIterator[StreamEntry], many: int) -> list[int]:
    return [(await anext(tail)).id.ms for _ in range(many)]


async def test_tail_from_now_on(server: RunningServer, console: Console) -> None:
    add_numbered(server, STREAM, 1, 5)
    tail = console.tail(STREAM, poll=POLL)
    first = asyncio.create_task(take(tail, 3))
    await asyncio.sleep(0.05)
    assert not first.done()
    add_numbered(server, STREAM, 6, 8)
    assert await first == [6, 7, 8]


async def test_tail_after_an_id(server: RunningServer, console: Console) -> None:
    many = 2 * TAIL_ENTRIES + 10
    add_numbered(server, STREAM, 1, many)
    tail = console.tail(STREAM, after=EntryId(3, 1), poll=POLL)
    assert await take(tail, many - 3) == list(range(4, many + 1))
    add_numbered(server, STREAM, many + 1, many + 2)
    assert await take(tail, 2) == [many + 1, many + 2]


async def test_tail_does_not_wait_while_there_is_more(server: RunningServer, console: Console) -> None:
    add_numbered(server, STREAM, 1, 3 * TAIL_ENTRIES)
    tail = console.tail(STREAM, after=ZERO_ID, poll=timedelta(hours=1))
    async with asyncio.timeout(5):
        assert len(await take(tail, 3 * TAIL_ENTRIES)) == 3 * TAIL_ENTRIES


async def test_tail_of_an_empty_stream_and_of_none(server: RunningServer, console: Console) -> None:
    with pytest.raises(NotFound, match="stream orders: no such stream"):
        await anext(console.tail(STREAM))
    server.command("XGROUP", "CREATE", STREAM, "billing", "$", "MKSTREAM")
    tail = console.tail(STREAM, poll=POLL)
    first = asyncio.create_task(take(tail, 1))
    await asyncio.sleep(0.02)
    add_numbered(server, STREAM, 1, 1)
    assert await first == [1]


async def test_tail_after_the_last_id_of_all_waits(server: RunningServer, console: Console) -> None:
    server.command("XADD", STREAM, str(LAST_ID), "f", "v")
    for after in (None, LAST_ID):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await anext(console.tail(STREAM, after=after, poll=POLL))


async def test_tail_where_the_last_id_may_not_be_read(server: RunningServer) -> None:
    add_numbered(server, STREAM, 1, 1)
    server.command(
        *("ACL", "SETUSER", "blind", "reset", "on", ">right", "~*", "+@all", "-xinfo|stream", "-@scripting")
    )
    try:
        options = replace(server.options, username="blind", password=Secret("right"))
        async with await Console.open(options) as console:
            with pytest.raises(NotFound, match="its last ID cannot be read"):
                await anext(console.tail(STREAM))
            assert await take(console.tail(STREAM, after=ZERO_ID), 1) == [1]
    finally:
        server.command("ACL", "DELUSER", "blind")


def make_pending(server: RunningServer, many: int) -> None:
    """Entries pending with two workers in turn, one of them delivered three times."""
    add_numbered(server, STREAM, 1, many)
    server.command("XGROUP", "CREATE", STREAM, "billing", "0")
    for number in range(many):
        server.command(
            *("XREADGROUP", "GROUP", "billing", f"w{number % 2}", "COUNT", 1, "STREAMS", STREAM, ">")
        )
    server.command("XCLAIM", STREAM, "billing", "w0", 0, "3-1", "IDLE", 90_000, "RETRYCOUNT", 3, "JUSTID")


async def test_pending_entries_by_pages(server: RunningServer, console: Console) -> None:
    make_pending(server, 25)
    found: list[PendingEntry] = []
    after = None
    for _ in count():
        page = await console.read_pending(STREAM, "billing", after=after, count=10)
        found += page.rows
        after = page.next_id
        if after is None:
            break
        assert len(page.rows) == 10
    assert [row.id.ms for row in found] == list(range(1, 26))
    assert [row.consumer for row in found] == [f"w{number % 2}" for number in range(25)]
    assert found[2].delivery_count == 3
    assert timedelta(seconds=90) <= found[2].idle < timedelta(seconds=120)
    assert {row.delivery_count for row in found[3:]} == {1}


async def test_pending_entries_of_one_consumer(server: RunningServer, console: Console) -> None:
    make_pending(server, 25)
    page = await console.read_pending(STREAM, "billing", consumer="w1", after=EntryId(4, 1), count=5)
    assert [row.id.ms for row in page.rows] == [6, 8, 10, 12, 14]
    assert page.next_id == EntryId(14, 1)
    nobody = await console.read_pending(STREAM, "billing", consumer="nobody")
    assert (nobody.rows, nobody.next_id) == ((), None)


async def test_pending_entries_come_with_the_servers_clock(server: RunningServer, console: Console) -> None:
    make_pending(server, 1)
    before = server.command("TIME")
    page = await console.read_pending(STREAM, "billing")
    assert page.now is not None
    assert int(before[0]) <= page.now.timestamp() <= int(before[0]) + 2
    empty = await console.read_pending(STREAM, "billing", count=0)
    assert empty == PendingPage((), None, empty.now)


async def test_a_summary_of_pending_entries_tells_range_and_consumers(
    server: RunningServer, console: Console
) -> None:
    make_pending(server, 25)
    summary = await console.read_pending_summary(STREAM, "billing")
    assert (summary.pending, summary.smallest_id, summary.greatest_id) == (25, EntryId(1, 1), EntryId(25, 1))
    assert dict(summary.consumers) == {"w0": 13, "w1": 12}
    server.command("XGROUP", "CREATE", STREAM, "idle", "$")
    nothing = await console.read_pending_summary(STREAM, "idle")
    assert (nothing.pending, nothing.smallest_id, nothing.greatest_id, nothing.consumers) == (
        0,
        None,
        None,
        (),
    )


async def test_scan_of_pending_entries_equals_the_truth(server: RunningServer, console: Console) -> None:
    make_pending(server, 25)
    profile = await console.scan_pending(STREAM, "billing")
    assert profile is not None
    assert (profile.scanned, profile.coverage) == (25, 1.0)
    assert profile.delivery_buckets == (24, 0, 1, 0, 0)
    assert profile.idle_buckets[3] == 1
    assert profile.longest_idle is not None
    assert profile.longest_idle.id == EntryId(3, 1)
    part = await console.scan_pending(STREAM, "billing", limit=10)
    assert part is not None
    assert (part.scanned, part.coverage) == (10, 0.4)
    server.command("XGROUP", "CREATE", STREAM, "idle", "$")
    assert await console.scan_pending(STREAM, "idle") is None


async def test_denied_reads_name_the_permission(server: RunningServer) -> None:
    make_pending(server, 2)
    server.command("ACL", "SETUSER", "blind", "reset", "on", ">right", "~*", "+ping", "+time", "+info")
    try:
        options = replace(server.options, username="blind", password=Secret("right"))
        async with await Console.open(options) as console:
            with pytest.raises(Refused, match="no permission for XRANGE"):
                await console.read_entries(STREAM)
            with pytest.raises(Refused, match="no permission for XREVRANGE"):
                await console.read_entries(STREAM, newest_first=True)
            with pytest.raises(Refused, match="no permission for XPENDING"):
                await console.read_pending(STREAM, "billing")
    finally:
        server.command("ACL", "DELUSER", "blind")


async def test_observing_one_stream_does_not_forget_the_others(server: RunningServer) -> None:
    for stream in (STREAM, "payments"):
        server.command("XADD", stream, "*", "f", "v")
    async with await Console.open(server.options) as console:
        await console.discover()
        first = await console.observe()
        alone = await console.observe(["payments"])
        assert [view.stream.name for view in alone.streams] == ["payments"]
        assert console.observer._history is not None
        assert set(console.observer._history.streams) == {STREAM, "payments"}
        assert (await console.observe()).observed_since == first.observed_since
