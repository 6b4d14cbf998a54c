"""Entries that no script can add anew: they stay pending."""

from streamops.model.acting import Actor, Confirmation
from streamops.operations.console import Console
from streamops.operations.streams_reclaim.intent import ReclaimIntent
from tests.support.operations.reclaiming import GROUP, IDLE, LETTERS, STREAM, age, reclaim
from tests.support.servers import RunningServer
from tests.support.streams import entries_of, pending_ids

PAIRS = 4_000
"""More than a script can hand to XADD."""


async def test_an_entry_that_cannot_be_added_anew_stays_pending(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    server.command("XADD", STREAM, "1-1", *("n", "1") * PAIRS)
    server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
    age(server, "1-1")
    async with await Console.open(server.options, actor=Actor("ann", "here", 1)) as console:
        prepared = await console.prepare(ReclaimIntent(stream=STREAM, group=GROUP, min_idle=IDLE))
        outcome = await console.apply(prepared, Confirmation(yes=True))
    assert [failed.id for failed in outcome.failed] == ["1-1"]
    assert pending_ids(server, STREAM, GROUP) == ["1-1"]
    assert len(entries_of(server, STREAM)) == 1


async def test_a_wide_entry_that_was_delivered_too_often_becomes_a_dead_letter(server: RunningServer) -> None:
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    server.command("XADD", STREAM, "1-1", *("n", "1") * PAIRS)
    server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
    age(server, "1-1", deliveries=5)
    async with await Console.open(server.options, actor=Actor("ann", "here", 1)) as console:
        assert (await reclaim(console)).applied == 1
    assert pending_ids(server, STREAM, GROUP) == []
    ((_, letter),) = entries_of(server, LETTERS)
    assert letter[: 2 * PAIRS] == [b"n", b"1"] * PAIRS
