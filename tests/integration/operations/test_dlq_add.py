"""Making dead letters of pending entries by hand, on every server."""

import pytest

from streamops.model.acting import Skipped
from streamops.model.entries import EntryId
from streamops.operations.dlq_add.intent import AddDeadLettersIntent
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from tests.support.operations.claim import GROUP, STREAM, add_pending_for, rows
from tests.support.operations.doing import applied, done, open_console
from tests.support.servers import RunningServer

QUEUE = "{orders}:dlq"


def give_up(ids: list[EntryId], because: str = "operator") -> AddDeadLettersIntent:
    return AddDeadLettersIntent(stream=STREAM, group=GROUP, ids=tuple(ids), because=because)


async def test_entries_are_in_the_queue_or_pending_and_a_replay_hands_them_back(
    server: RunningServer,
) -> None:
    ids = add_pending_for(server, dead=2, live=1)
    async with await open_console(server) as console:
        outcome = await done(console, give_up([ids[0], ids[2]], "poison"))
        assert (outcome.applied, outcome.skipped) == (2, ())
        assert [*rows(server)] == [str(ids[1])]
        letters = [
            dict(zip(fields[::2], fields[1::2], strict=True))
            for _, fields in server.command("XRANGE", QUEUE, "-", "+")
        ]
        assert [(one[b"_so_origin_id"], one[b"_so_reason"], one[b"_so_group"]) for one in letters] == [
            (str(ident).encode(), b"poison", GROUP.encode()) for ident in (ids[0], ids[2])
        ]
        await done(console, ReplayIntent(queue=QUEUE, mode=ReplayMode.RETRY))
    assert server.command("XLEN", QUEUE) == 0
    assert server.command("XLEN", f"{{{STREAM}}}:retry:{GROUP}") == 2


async def test_what_changed_since_the_plan_is_left_alone(server: RunningServer) -> None:
    ids = add_pending_for(server, dead=4)
    async with await open_console(server) as console:
        prepared = await console.prepare(give_up(ids))
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
    assert server.command("XLEN", QUEUE) == 1


def test_reason_of_several_words_is_refused() -> None:
    with pytest.raises(ValueError, match="one word"):
        give_up([EntryId(1, 0)], "it broke")


async def test_entry_that_is_gone_from_the_stream_leaves_a_record(server: RunningServer) -> None:
    ids = add_pending_for(server, dead=1)
    server.command("XDEL", STREAM, str(ids[0]))
    async with await open_console(server) as console:
        prepared = await console.prepare(give_up(ids))
        assert "1 entry is no longer in the stream" in " ".join(prepared.plan.warnings)
        outcome = await applied(console, prepared)
    assert outcome.applied == 1
    assert rows(server) == {}
    assert server.command("XLEN", QUEUE) == 1
