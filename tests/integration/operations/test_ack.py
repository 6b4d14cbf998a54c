"""Acknowledging entries by ID: only as the plan saw them, on every server."""

from streamops.model.acting import Skipped
from streamops.model.entries import EntryId
from streamops.operations.ack.intent import AckIntent
from tests.support.operations.claim import GROUP, STREAM, add_pending_for, rows
from tests.support.operations.doing import applied, done, open_console
from tests.support.servers import RunningServer


def ack(ids: list[EntryId]) -> AckIntent:
    return AckIntent(stream=STREAM, group=GROUP, ids=tuple(ids))


async def test_what_changed_hands_or_was_delivered_again_is_left_alone(server: RunningServer) -> None:
    ids = add_pending_for(server, dead=4)
    async with await open_console(server) as console:
        prepared = await console.prepare(ack(ids))
        server.command("XCLAIM", STREAM, GROUP, "live", 0, str(ids[0]), "JUSTID")
        server.command("XCLAIM", STREAM, GROUP, "dead", 0, str(ids[1]))
        server.command("XACK", STREAM, GROUP, str(ids[2]))
        outcome = await applied(console, prepared)
    assert outcome.applied == 1
    assert outcome.skipped == (
        Skipped(str(ids[0]), "now owned by live"),
        Skipped(str(ids[1]), "delivered again since"),
        Skipped(str(ids[2]), "no longer pending"),
    )
    assert list(rows(server).values()) == [("live", 1), ("dead", 2)]


async def test_a_group_made_anew_and_read_by_others_keeps_its_rows(server: RunningServer) -> None:
    ids = add_pending_for(server, dead=3)
    async with await open_console(server) as console:
        prepared = await console.prepare(ack(ids))
        server.command("XGROUP", "DESTROY", STREAM, GROUP)
        server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
        server.command("XREADGROUP", "GROUP", GROUP, "live", "STREAMS", STREAM, ">")
        outcome = await applied(console, prepared)
    assert (outcome.applied, {one.reason for one in outcome.skipped}) == (0, {"now owned by live"})
    assert len(rows(server)) == 3


async def test_many_are_acknowledged_in_batches(server: RunningServer) -> None:
    ids = add_pending_for(server, a=1_200)
    async with await open_console(server) as console:
        assert (await done(console, ack(ids))).applied == 1_200
    assert rows(server) == {}
