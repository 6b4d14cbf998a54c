"""What a plan counts while others delete and acknowledge: bounds, or a number that was true at an instant."""

from collections.abc import AsyncIterator

import pytest

from streamops.model.entries import Amount, EntryId
from streamops.monitor.inspection import inspect_stream
from streamops.operations import walking
from streamops.operations.trim import survey as trim_losses
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.walking import count_after_each, count_below
from streamops.wire.pending import read_pending_page
from streamops.wire.reads import count_entries
from streamops.wire.server import Server
from tests.support.operations.counted_meanwhile import STREAM, before_call, delete, interrupt
from tests.support.operations.doing import open_console, planned
from tests.support.servers import RunningServer
from tests.support.streams import add_counting

BEGIN = EntryId(0, 0)


def change(server: RunningServer, deleted: tuple[int, ...]) -> None:
    """Delete these, and add a few: what is added is above, and takes nothing from what is known."""
    if deleted:
        delete(server, *deleted)
    add_counting(server, STREAM, 101, 105)


@pytest.fixture
async def connected(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """A server whose stream has a hundred entries, walked over in steps of seven."""
    monkeypatch.setattr(walking, "STEP", 7)
    add_counting(server, STREAM, 1, 100)
    connection = await Server.connect(server.options)
    yield connection
    await connection.close()


@pytest.mark.parametrize(
    ("cut", "case"),
    [
        # Seventy all the time; of the five, none was counted.
        (71, ((90, 91, 92, 93, 94), Amount(70, 75))),
        # Seventy, then sixty-nine; one of the two was counted, and neither is above.
        (71, ((10, 100), Amount(69, 71))),
        # Thirty, then twenty-eight: twenty-nine at no instant.
        (31, ((5, 25), Amount(29, 31))),
        (31, ((90,), Amount(30, 31))),
        (31, ((), Amount(30, 30))),
        (71, ((), Amount(70, 70))),
    ],
)
async def test_where_entries_are_deleted_while_they_are_counted_there_are_bounds(
    server: RunningServer,
    connected: Server,
    monkeypatch: pytest.MonkeyPatch,
    cut: int,
    case: tuple[tuple[int, ...], Amount],
) -> None:
    deleted, told = case
    look = await inspect_stream(connected, STREAM)

    interrupt(monkeypatch, lambda: change(server, deleted))
    assert await count_below(connected, look, EntryId(cut, 0)) == told


async def test_what_is_counted_in_one_step_was_so_then(server: RunningServer, connected: Server) -> None:
    look = await inspect_stream(connected, STREAM)
    delete(server, 2, 90)
    assert await count_below(connected, look, EntryId(6, 0)) == Amount(4, 4)
    counts = await count_after_each(connected, look, [EntryId(1, 0)], EntryId(6, 0), most=100)
    assert counts == {EntryId(1, 0): Amount(3, 3)}


@pytest.mark.parametrize(
    ("deleted", "told"),
    [((5, 25), (Amount(29, 31), Amount(10, 12))), ((), (Amount(30, 30), Amount(10, 10)))],
    ids=["deleted", "added"],
)
async def test_what_waits_has_bounds_where_entries_are_deleted_while_they_are_counted(
    server: RunningServer,
    connected: Server,
    monkeypatch: pytest.MonkeyPatch,
    deleted: tuple[int, ...],
    told: tuple[Amount, Amount],
) -> None:
    look = await inspect_stream(connected, STREAM)

    monkeypatch.setattr(
        walking, "count_entries", before_call(2, lambda: change(server, deleted), count_entries)
    )
    counts = await count_after_each(connected, look, [BEGIN, EntryId(20, 0)], EntryId(31, 0), most=100)
    assert (counts[BEGIN], counts[EntryId(20, 0)]) == told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("XACK", STREAM, "billing", "200-0"), "at least 189 pending entries (w1 189)"),
        (("XCLAIM", STREAM, "billing", "w2", 0, "200-0"), "at least 189 pending entries (w1 189)"),
        (("XACK", STREAM, "billing", "1-0"), "at least 189 pending entries (w1 189)"),
        (("XREADGROUP", "GROUP", "billing", "w2", "STREAMS", STREAM, ">"), "190 pending entries (w1 190)"),
    ],
    ids=["acknowledged above", "claimed above", "acknowledged below", "read"],
)
async def test_where_rows_go_while_they_are_counted_there_are_at_least_so_many(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], told: str
) -> None:
    """Of 200 pending entries 190 are below the cut; those above are counted, but one of them went before."""
    monkeypatch.setattr(trim_losses, "PAGE", 10)
    add_counting(server, STREAM, 1, 250)
    server.command("XGROUP", "CREATE", STREAM, "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "w1", "COUNT", 200, "STREAMS", STREAM, ">")
    act = before_call(4, lambda: server.command(*command), read_pending_page)
    monkeypatch.setattr(trim_losses, "read_pending_page", act)
    async with await open_console(server) as console:
        plan = await planned(console, TrimIntent(stream=STREAM, minid=EntryId(191, 0), safe=False))
    assert f"Group billing loses {told}." in plan.effects
