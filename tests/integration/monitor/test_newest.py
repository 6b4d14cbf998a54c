"""The newest entries of a stream, bounded in number and in bytes."""

import pytest

from streamops.errors import NotFound
from streamops.model.entries import LAST_ID, ZERO_ID, EntryId
from streamops.monitor import inspection
from streamops.monitor.inspection import Newest, read_newest
from streamops.operations.console import Console
from tests.support.servers import RunningServer


async def read(
    console: Console, stream: str, count: int, *, first: EntryId = ZERO_ID, last: EntryId = LAST_ID
) -> Newest:
    found = await read_newest(console.place.server, stream, count, first=first, last=last)
    assert isinstance(found, Newest)
    return found


@pytest.mark.parametrize(("count", "more"), [(1, True), (4, True), (9, True), (10, True), (11, False)])
async def test_as_many_as_asked_for_the_newest_first(
    server: RunningServer,
    count: int,
    more: bool,  # noqa: FBT001 - a table
) -> None:
    for number in range(1, 11):
        server.command("XADD", "s", f"{number}-0", "n", number)
    async with await Console.open(server.options) as console:
        found = await read(console, "s", count)
        assert [entry.id.ms for entry in found.entries] == list(range(10, 10 - min(count, 10), -1))
        assert found.more is more
        inside = await read(console, "s", 100, first=EntryId(3, 0), last=EntryId(7, 0))
        assert [entry.id.ms for entry in inside.entries] == [7, 6, 5, 4, 3]
        assert not inside.more


async def test_large_entries_are_fewer(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "MOST_BYTES", 10_000)
    for _ in range(40):
        server.command("XADD", "s", "*", "n", "x" * 1_000)
    async with await Console.open(server.options) as console:
        found = await read(console, "s", 100)
    assert 4 <= len(found.entries) <= 14
    assert found.more


async def test_no_stream_is_nothing_and_another_type_is_refused(server: RunningServer) -> None:
    server.command("SET", "text", "x")
    async with await Console.open(server.options) as console:
        assert await read(console, "nothing", 5) == Newest((), more=False)
        with pytest.raises(NotFound, match="not a stream"):
            await read_newest(console.place.server, "text", 5)
