"""Taking pending entries over, on every server."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from streamops.errors import ApplyError, Interrupted, NotFound, SettingsError, StalePlan
from streamops.model.acting import Confirmation, Limits, Progress, Skipped
from streamops.model.entries import EntryId
from streamops.operations import running
from streamops.operations.claim import run as claiming
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.keys import undo_key
from streamops.wire.writes import pending as pending_writes
from streamops.wire.writes.audit import AUDIT
from tests.support.operations.claim import GROUP, OLD, STREAM, add_pending_for, claim, rows
from tests.support.operations.doing import applied, done, open_console, planned
from tests.support.operations.facts import counts
from tests.support.servers import RunningServer

NOW = timedelta(0)


def small_pages(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Let the server be asked for no more than so many rows at a time."""
    for name in ("FIRST", "LARGEST", "NAMED"):
        monkeypatch.setattr(claiming, name, size)


async def test_a_claim_takes_from_all_other_consumers(server: RunningServer) -> None:
    ids = add_pending_for(server, rescuer=1, a=3, b=2)
    async with await open_console(server) as console:
        plan = await planned(console, claim())
        assert (plan.count, plan.reversible) == (5, True)
        outcome = await done(console, claim())
    assert (outcome.applied, outcome.skipped, outcome.complete) == (5, (), True)
    assert rows(server) == {str(one): ("rescuer", 1) for one in ids}
    idles = [row[2] for row in server.command("XPENDING", STREAM, GROUP, "-", "+", 10)]
    assert [idle >= OLD for idle in idles] == [True] + [False] * 5, "its own entry is left as it was"


async def test_it_takes_from_one_consumer_what_is_idle(server: RunningServer) -> None:
    ids = add_pending_for(server, a=4, b=2)
    server.command("XCLAIM", STREAM, GROUP, "a", 0, str(ids[1]), "IDLE", 5, "JUSTID")
    async with await open_console(server) as console:
        outcome = await done(console, claim(source="a"))
    assert outcome.applied == 3
    assert [owner for owner, _ in rows(server).values()] == ["rescuer", "a", "rescuer", "rescuer", "b", "b"]


async def test_a_claim_with_a_count_takes_the_first_few(server: RunningServer) -> None:
    add_pending_for(server, a=3, b=3)
    async with await open_console(server) as console:
        assert (await done(console, claim(count=4))).applied == 4
        assert (await done(console, claim(to="second", count=0))).applied == 0
        assert (await done(console, claim(to="second", ids=()))).applied == 0
    assert [owner for owner, _ in rows(server).values()] == ["rescuer"] * 4 + ["b"] * 2


async def test_it_takes_named_entries_that_fit(server: RunningServer) -> None:
    ids = add_pending_for(server, a=3, b=3)
    server.command("XCLAIM", STREAM, GROUP, "b", 0, str(ids[3]), "IDLE", 5, "JUSTID")
    unknown = EntryId(1, 1)
    async with await open_console(server) as console:
        intent = claim(source="b", ids=(unknown, *reversed(ids)))
        plan = await planned(console, intent)
        assert plan.count == 2
        assert counts(plan, "skipped") == {"not-pending": 1, "owned-elsewhere": 3, "busy": 1}
        assert (await done(console, intent)).applied == 2
    assert [owner for owner, _ in rows(server).values()] == ["a", "a", "a", "b", "rescuer", "rescuer"]


async def test_what_changed_since_the_plan_is_left_alone(server: RunningServer) -> None:
    ids = add_pending_for(server, a=6)
    async with await open_console(server) as console:
        everything = await console.prepare(claim())
        named = await console.prepare(claim(to="other", ids=tuple(ids)))
        server.command("XACK", STREAM, GROUP, str(ids[0]))
        server.command("XCLAIM", STREAM, GROUP, "worker", 0, str(ids[1]), "JUSTID")
        outcome = await applied(console, everything)
        assert (outcome.applied, outcome.skipped_count) == (4, 0)
        assert outcome.notes == (
            (
                "Changed since the plan and left alone: 2 entries (acknowledged, delivered again, or claimed by "
                "another consumer)."
            ),
        )
        outcome = await applied(console, named)
    assert outcome.applied == 0
    assert outcome.skipped[:2] == (
        Skipped(str(ids[0]), "no longer pending"),
        Skipped(str(ids[1]), "delivered again, so no longer idle for long enough"),
    )
    assert [owner for owner, _ in rows(server).values()] == ["worker", *["rescuer"] * 4]


@pytest.mark.parametrize("named", [False, True])
async def test_an_entry_that_changed_hands_is_not_taken_from_its_new_owner(
    server: RunningServer, *, named: bool
) -> None:
    """However idle it looks."""
    ids = add_pending_for(server, a=2)
    async with await open_console(server) as console:
        prepared = await console.prepare(claim(source="a", ids=tuple(ids) if named else None))
        server.command("XCLAIM", STREAM, GROUP, "worker", 0, str(ids[0]), "IDLE", OLD, "JUSTID")
        assert (await applied(console, prepared)).applied == 1
    assert [owner for owner, _ in rows(server).values()] == ["worker", "rescuer"]


async def test_it_goes_no_further_than_the_plan(server: RunningServer) -> None:
    add_pending_for(server, a=3)
    async with await open_console(server) as console:
        prepared = await console.prepare(claim(min_idle=NOW))
        later = server.command("XADD", STREAM, "*", "f", "v")
        server.command("XREADGROUP", "GROUP", GROUP, "a", "STREAMS", STREAM, ">")
        assert (await applied(console, prepared)).applied == 3
    assert rows(server)[later.decode()] == ("a", 1)


async def test_a_group_that_was_set_back_is_drift(server: RunningServer) -> None:
    add_pending_for(server, a=3)
    async with await open_console(server) as console:
        prepared = await console.prepare(claim())
        server.command("XGROUP", "SETID", STREAM, GROUP, "0")
        with pytest.raises(StalePlan, match="set back"):
            await applied(console, prepared)
    assert {owner for owner, _ in rows(server).values()} == {"a"}


async def test_a_name_of_any_bytes(server: RunningServer) -> None:
    add_pending_for(server, a=1)
    new = [server.command("XADD", STREAM, "*", "f", "v")]
    server.command("XREADGROUP", "GROUP", GROUP, b"\xff\x00x", "STREAMS", STREAM, ">")
    server.command("XCLAIM", STREAM, GROUP, b"\xff\x00x", 0, *new, "IDLE", OLD, "JUSTID")
    async with await open_console(server) as console:
        assert (await done(console, claim(source="\udcff\x00x"))).applied == 1
    assert [owner for owner, _ in rows(server).values()] == ["a", "rescuer"]


async def test_what_cannot_be_meant_is_refused(server: RunningServer) -> None:
    add_pending_for(server, a=1, b=1)
    async with await open_console(server) as console:
        with pytest.raises(NotFound, match="has no consumer nobody") as caught:
            await planned(console, claim(source="nobody"))
        assert caught.value.hint == "Its consumers: a, b."
        with pytest.raises(SettingsError, match="both the old owner and the new one"):
            await planned(console, claim(to="a", source="a"))
        with pytest.raises(SettingsError, match="negative"):
            await planned(console, claim(count=-1))
        with pytest.raises(NotFound, match="no group"):
            await planned(console, ClaimIntent(stream=STREAM, group="none", to="a"))
        with pytest.raises(NotFound, match="no such stream"):
            await planned(console, ClaimIntent(stream="none", group=GROUP, to="a"))
        assert (await done(console, claim(min_idle=timedelta(hours=1)))).requested == 0


@pytest.mark.parametrize("named", [False, True])
async def test_interrupted_it_says_what_was_done_and_the_same_again_does_the_rest(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, *, named: bool
) -> None:
    small_pages(monkeypatch, 300)
    ids = add_pending_for(server, a=600, b=600)
    stop, seen = asyncio.Event(), list[Progress]()

    def watch(progress: Progress) -> None:
        seen.append(progress)
        stop.set()

    intent = claim(ids=tuple(ids) if named else None)
    async with await open_console(server) as console:
        prepared = await console.prepare(intent)
        with pytest.raises(Interrupted, match="interrupted") as caught:
            await console.apply(prepared, Confirmation(yes=True), watch, stop=stop)
        outcome: Any = caught.value.outcome
        assert caught.value.hint == "Run it again for the rest: finished entries are left alone."
        assert (300 <= outcome.applied <= 900, outcome.complete, outcome.job) == (True, False, "")
        assert outcome.applied == sum(owner == "rescuer" for owner, _ in rows(server).values())
        action = (await console.read_actions(1)).actions[0]
        assert action.last is not None
        assert action.last.outcome is not None
        assert action.last.outcome.applied == outcome.applied
        assert not await console.read_jobs()
        rest = await console.prepare(intent)
        assert rest.plan.count == 1_200 - outcome.applied
        assert (await applied(console, rest)).complete
    assert [owner for owner, _ in rows(server).values()] == ["rescuer"] * 1_200


async def test_a_rate_is_kept_to_and_nothing_is_left_out(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_pages(monkeypatch, 7)
    add_pending_for(server, a=100)
    async with await open_console(server) as console:
        outcome = await done(console, claim(), Limits(rate=500))
    assert (outcome.applied, outcome.complete) == (100, True)


async def test_a_slow_claim_leaves_few_records(server: RunningServer) -> None:
    """One a row would push its own beginning out of the log, and with it whatever undoing it needs."""
    add_pending_for(server, a=20)
    async with await open_console(server) as console:
        outcome = await done(console, claim(), Limits(rate=39))
        assert outcome.applied == 20
        assert server.command("XLEN", AUDIT) == 3
        assert (await planned(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))).count == 20


async def test_a_large_claim_leaves_few_records(server: RunningServer) -> None:
    """And nothing beside the stream, where its rows were kept until then."""
    add_pending_for(server, a=2_500)
    async with await open_console(server) as console:
        outcome = await done(console, claim())
        assert server.command("XLEN", AUDIT) == 3
        assert server.command("EXISTS", undo_key(STREAM, outcome.audit_id)) == 0
        assert (await planned(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))).count == 2_500


async def test_an_unaudited_claim_keeps_nothing(server: RunningServer) -> None:
    add_pending_for(server, a=10)
    server.command("SET", AUDIT, "no stream")
    async with await open_console(server) as console:
        assert (await done(console, claim(), Limits(unaudited=True))).applied == 10
    assert {*server.command("KEYS", "*")} == {STREAM.encode(), AUDIT.encode()}


async def test_a_failing_record_stops_it_with_what_is_done_told(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_pages(monkeypatch, 10)
    monkeypatch.setattr(running, "ROWS_GATHERED", 20)
    add_pending_for(server, a=60)
    async with await open_console(server) as console:
        prepared = await console.prepare(claim())

        async def then_no_more_records(*args: Any, **named: Any) -> Any:  # noqa: ANN401 - as it was
            server.command("DEL", "streamops:audit")
            server.command("SET", "streamops:audit", "no stream")
            return await pending_writes.claim_page(*args, **named)

        monkeypatch.setattr(claiming, "claim_page", then_no_more_records)
        with pytest.raises(ApplyError) as caught:
            await applied(console, prepared)
    outcome: Any = caught.value.outcome
    assert outcome.applied == sum(owner == "rescuer" for owner, _ in rows(server).values()) < 60
