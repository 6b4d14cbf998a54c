"""Entries that no script can add anew: they stay pending."""

from streamops.model.acting import Actor, Assent
from streamops.model.acts.tend import TendIntent
from streamops.operate.console import Console
from tests.runtime.tend.test_tending import GROUP, IDLE, STREAM, age, entries, pending
from tests.servers import RunningServer

PAIRS = 4_000
"""More than a script can hand to XADD."""


async def test_an_entry_that_cannot_be_added_anew_stays_pending(any_server: RunningServer) -> None:
    any_server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    any_server.command("XADD", STREAM, "1-1", *("n", "1") * PAIRS)
    any_server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
    age(any_server, "1-1")
    async with await Console.open(any_server.options, actor=Actor("ann", "here", 1)) as console:
        prepared = await console.prepare(TendIntent(stream=STREAM, group=GROUP, min_idle=IDLE, once=True))
        outcome = await console.apply(prepared, Assent(yes=True))
    assert [failed.id for failed in outcome.failed] == ["1-1"]
    assert pending(any_server) == ["1-1"]
    assert len(entries(any_server)) == 1
