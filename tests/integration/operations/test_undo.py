"""Taking actions back: claims and nacks."""

import asyncio

import pytest
from msgspec import Struct

from streamops.errors import Forbidden, NotFound
from streamops.model.acting import Actor, Confirmation, Impact, Outcome, Progress, Skipped
from streamops.model.entries import EntryId
from streamops.operations.ack.intent import AckIntent
from streamops.operations.audit import undone_actions
from streamops.operations.audit_writer import gather_orphan
from streamops.operations.claim.run import FIRST, LARGEST
from streamops.operations.console import Console
from streamops.operations.nack.intent import NackIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.operations.undo_snapshots import unpack_pages
from streamops.wire.keys import undo_key
from streamops.wire.writes.audit import AUDIT, ROWS
from tests.support.operations.claim import GROUP, OLD, STREAM, add_pending_for, claim, rows
from tests.support.operations.doing import applied, done, open_console, planned
from tests.support.operations.facts import counts
from tests.support.servers import RunningServer

MONTH = 30 * 86_400_000


def undo(outcome: Outcome) -> UndoIntent:
    return UndoIntent(audit_id=EntryId.parse(outcome.audit_id))


def idles(server: RunningServer) -> list[int]:
    return [row[2] for row in server.command("XPENDING", STREAM, GROUP, "-", "+", 10_000)]


async def test_a_claim_is_taken_back(server: RunningServer) -> None:
    ids = add_pending_for(server, a=2, b=2)
    server.command("XCLAIM", STREAM, GROUP, "a", 0, str(ids[0]), "IDLE", OLD, "RETRYCOUNT", 7, "JUSTID")
    before = rows(server)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        assert {owner for owner, _ in rows(server).values()} == {"rescuer"}
        plan = await planned(console, undo(outcome))
        assert (plan.operation, plan.count, plan.impact, plan.reversible) == (
            "undo",
            4,
            Impact.REVERSIBLE,
            False,
        )
        back = await done(console, undo(outcome))
        assert (back.applied, back.skipped) == (4, ())
        records = await console.read_action(EntryId.parse(back.audit_id))
    assert rows(server) == before
    assert min(idles(server)) >= OLD
    assert [undone_actions(record) for record in records] == [(), (outcome.audit_id,)]


async def test_what_happened_since_is_left_alone(server: RunningServer) -> None:
    ids = add_pending_for(server, a=6)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        server.command("XACK", STREAM, GROUP, str(ids[0]))
        server.command("XCLAIM", STREAM, GROUP, "other", 0, str(ids[1]), "JUSTID")
        server.command("XCLAIM", STREAM, GROUP, "rescuer", 0, str(ids[2]))
        prepared = await console.prepare(undo(outcome))
        assert prepared.plan.count == 3
        assert counts(prepared.plan, "skipped") == {"gone": 1, "owner": 1, "delivered": 1}
        assert prepared.plan.warnings[0].endswith(f"no longer pending. The first is {ids[0]}.")
        server.command("XACK", STREAM, GROUP, str(ids[3]))
        back = await applied(console, prepared)
    assert (back.requested, back.applied) == (3, 2)
    assert back.skipped == (Skipped(str(ids[3]), "no longer pending"),)
    assert list(rows(server).values()) == [("other", 1), ("rescuer", 2), ("a", 1), ("a", 1)]


async def test_a_row_that_went_round_in_a_circle_is_left_alone(server: RunningServer) -> None:
    """Its owner and deliveries are as the claim left them, but the time is not."""
    ids = add_pending_for(server, a=2)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        server.command("XCLAIM", STREAM, GROUP, "other", 0, str(ids[0]), "JUSTID")
        await asyncio.sleep(0.1)
        server.command("XCLAIM", STREAM, GROUP, "rescuer", 0, str(ids[0]), "JUSTID")
        assert (await done(console, undo(outcome))).applied == 1
    assert list(rows(server).values()) == [("rescuer", 1), ("a", 1)]


async def test_a_nack_looks_idle_and_is_taken_back(server: RunningServer) -> None:
    ids = add_pending_for(server, a=3, b=1)
    before = rows(server)
    async with await open_console(server) as console:
        intent = NackIntent(stream=STREAM, group=GROUP, ids=(EntryId(1, 1), *ids), source="a")
        plan = await planned(console, intent)
        assert (plan.count, plan.impact) == (3, Impact.REDELIVERS)
        assert counts(plan, "skipped") == {"not-pending": 1, "owned-elsewhere": 1}
        outcome = await done(console, intent)
        assert rows(server) == before
        assert [idle >= MONTH for idle in idles(server)] == [True, True, True, False]
        taken = server.command("XAUTOCLAIM", STREAM, GROUP, "w", MONTH, "0", "COUNT", 1)
        assert taken[1][0][0] == str(ids[0]).encode()
        back = await done(console, undo(outcome))
    assert (outcome.applied, back.applied) == (3, 2)
    assert rows(server) == before | {str(ids[0]): ("w", 2)}
    assert [OLD <= idle < MONTH for idle in idles(server)] == [False, True, True, True]


async def test_a_nack_leaves_alone_what_changed(server: RunningServer) -> None:
    ids = add_pending_for(server, a=4)
    async with await open_console(server) as console:
        prepared = await console.prepare(NackIntent(stream=STREAM, group=GROUP, ids=tuple(ids)))
        server.command("XACK", STREAM, GROUP, str(ids[0]))
        server.command("XCLAIM", STREAM, GROUP, "other", 0, str(ids[1]), "JUSTID")
        outcome = await applied(console, prepared)
        with pytest.raises(NotFound, match="has no consumer nobody"):
            await planned(console, NackIntent(stream=STREAM, group=GROUP, ids=tuple(ids), source="nobody"))
    assert outcome.applied == 2
    assert outcome.skipped == (
        Skipped(str(ids[0]), "no longer pending"),
        Skipped(str(ids[1]), "owned by another consumer by now"),
    )


async def test_an_action_is_undone_once(server: RunningServer) -> None:
    add_pending_for(server, a=2)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        back = await done(console, undo(outcome))
        with pytest.raises(Forbidden, match=f"was undone already, by {back.audit_id}"):
            await planned(console, undo(outcome))
        with pytest.raises(Forbidden, match=r"undo orders/billing\) cannot be undone"):
            await planned(console, undo(back))
        with pytest.raises(NotFound, match="has no action 5-5"):
            await planned(console, UndoIntent(audit_id=EntryId(5, 5)))


async def test_a_restored_owner_that_is_gone_is_told(server: RunningServer) -> None:
    add_pending_for(server, a=2)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        server.command("XGROUP", "DELCONSUMER", STREAM, GROUP, "a")
        plan = await planned(console, undo(outcome))
        assert plan.warnings == ("Created again, because the group has no such consumers now: a.",)
        assert (await done(console, undo(outcome))).applied == 2
    assert {owner for owner, _ in rows(server).values()} == {"a"}


class Killed(BaseException):
    """Stands for the end of the process: nothing more is written."""


async def killed_after(console: Console, intent: Struct, batches: int) -> None:
    """An action whose process is killed after so many batches."""
    told = list[Progress]()

    def kill(progress: Progress) -> None:
        told.append(progress)
        if len(told) > batches:
            raise Killed

    prepared = await console.prepare(intent)
    with pytest.raises(Killed):
        await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word), kill)


async def test_a_nack_that_was_killed_is_undone_as_far_as_it_is_on_record(server: RunningServer) -> None:
    ids = add_pending_for(server, a=800)
    async with await open_console(server) as console:
        await killed_after(console, NackIntent(stream=STREAM, group=GROUP, ids=tuple(ids)), 0)
        (killed,) = (await console.read_actions(1)).actions
        assert killed.last is None
        given_back = await done(console, UndoIntent(audit_id=EntryId.parse(killed.first.id)))
        assert (given_back.applied, given_back.failed_count) == (500, 0)
    assert max(idles(server)) < MONTH


async def test_what_was_cut_off_before_it_put_anything_on_record_is_told_so(server: RunningServer) -> None:
    add_pending_for(server, a=3)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        for record in server.command("XRANGE", AUDIT, "-", "+")[1:]:
            server.command("XDEL", AUDIT, record[0])
        with pytest.raises(Forbidden, match="was interrupted before it had recorded anything"):
            await planned(console, undo(outcome))


async def test_an_acknowledgement_cannot_be_undone_and_says_so(server: RunningServer) -> None:
    ids = add_pending_for(server, a=2)
    async with await open_console(server) as console:
        intent = AckIntent(stream=STREAM, group=GROUP, ids=tuple(ids))
        plan = await planned(console, intent)
        assert (plan.reversible, plan.irreversible) == (False, True)
        with pytest.raises(Forbidden, match="cannot be undone"):
            await planned(console, undo(await done(console, intent)))
        assert server.command("KEYS", "*:undo:*") == []
    assert rows(server) == {}


async def test_an_undo_of_a_claim_that_was_cut_off_can_be_begun_again(server: RunningServer) -> None:
    add_pending_for(server, a=600)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        await killed_after(console, undo(outcome), 0)
        assert (await done(console, undo(outcome))).applied == 600 - ROWS
    assert {owner for owner, _ in rows(server).values()} == {"a"}


async def under_way() -> None:
    """Wait for what the server was asked for before the process was killed."""
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)


async def test_what_a_killed_claim_did_not_record_is_taken_back_all_the_same(server: RunningServer) -> None:
    planned_in_all = FIRST + LARGEST
    add_pending_for(server, a=planned_in_all)
    async with await open_console(server) as console:
        await killed_after(console, claim(), 0)
        await under_way()
        assert server.command("XLEN", AUDIT) == 1, "no batch is on record"
        begun = (await console.read_actions(1)).actions[0].first
        taken = server.command("XPENDING", STREAM, GROUP, "-", "+", 2 * planned_in_all, "rescuer")
        prepared = await console.prepare(UndoIntent(audit_id=EntryId.parse(begun.id)))
        assert prepared.plan.count == len(taken) > FIRST
        assert prepared.plan.warnings[0].startswith(
            f"{len(taken):,} of {planned_in_all:,} planned entries are on record."
        )
        assert (await applied(console, prepared)).applied == len(taken)
        assert server.command("EXISTS", undo_key(STREAM, begun.id)) == 0
        records = await console.read_action(EntryId.parse(begun.id))
    owned = server.command("XPENDING", STREAM, GROUP, "-", "+", 2 * planned_in_all, "a")
    assert len(owned) == planned_in_all
    assert sum(len(then.rows) for one in records if one.undo for then in unpack_pages(one.undo)) == len(taken)


async def test_a_page_that_is_both_on_record_and_kept_is_taken_back_once(server: RunningServer) -> None:
    """Whoever is killed between the two leaves it behind."""
    add_pending_for(server, a=30)
    async with await open_console(server) as console:
        await killed_after(console, claim(), 0)
        begun = (await console.read_actions(1)).actions[0].first
        key = undo_key(STREAM, begun.id)
        kept = server.command("HGETALL", key)
        await gather_orphan(console._server, Actor(), EntryId.parse(begun.id))
        server.command("HSET", key, *kept)
        plan = await planned(console, UndoIntent(audit_id=EntryId.parse(begun.id)))
        assert (plan.count, plan.warnings[0][:16]) == (30, "The action is st")
