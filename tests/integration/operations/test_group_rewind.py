"""Rewinding groups on real servers."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from streamops.errors import Forbidden, NotFound, StalePlan
from streamops.model.acting import Impact, Limits
from streamops.model.entries import MAX_PART, Amount, EntryId
from streamops.monitor import inspection
from streamops.monitor.counting import CountBudget
from streamops.operations.console import Console
from streamops.operations.groups_rewind import run as group_rewind
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.writes.audit import AUDIT
from tests.chaos.histories import killed
from tests.support.operations.doing import applied, done, open_console, planned
from tests.support.operations.facts import counts
from tests.support.operations.grouping import STREAM, group_info, grouped, has_lag, position
from tests.support.servers import RunningServer
from tests.support.streams import add_counting, add_numbered, deliver


@pytest.mark.parametrize(
    ("where", "target", "count"),
    [
        ({"to_id": EntryId(2, 1)}, "2-1", 4),
        ({"to_id": EntryId(8, 1)}, "8-1", 2),
        ({"back": 3}, "4-0", 3),
        ({"back": 0}, "6-1", 0),
        ({"back": 6}, "1-0", 6),
        ({"back": 7}, "0-0", 6),
        ({"to_start": True}, "0-0", 6),
        ({"to_end": True}, "10-1", 4),
        ({"to_time": datetime.fromtimestamp(0.003, UTC)}, "2-18446744073709551615", 4),
        ({"to_time": timedelta(0)}, "10-1", 4),
        ({"to_time": timedelta(days=10**6)}, "0-0", 6),
        ({"to_id": EntryId(6, 1)}, "6-1", 0),
    ],
)
async def test_a_group_is_set_where_it_was_asked_for_with_the_right_lag(
    server: RunningServer, console: Console, where: dict[str, Any], target: str, count: int
) -> None:
    grouped(server)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", **where))
    assert str(prepared.evidence.target) == target
    assert prepared.plan.count == count
    assert prepared.plan.impact is Impact.REDELIVERS
    outcome = await applied(console, prepared)
    assert outcome.applied == count
    if not count:
        assert position(server, "g") == "6-1"
        return
    assert position(server, "g") == target
    ahead = 4 + count if prepared.evidence.target < EntryId(6, 1) else 4 - count
    if has_lag(server):
        assert group_info(server, "g")["lag"] == ahead
    assert len(deliver(server, STREAM, "g", "c3", 100)) == ahead
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 0


async def test_what_is_pending_still_is_told_with_its_owners(server: RunningServer, console: Console) -> None:
    grouped(server)
    plan = await planned(console, RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    assert plan.effects[1] == "6 entries will be delivered again to its consumers."
    assert counts(plan, "redelivered")["pending"] == 2
    assert "takes them from c2," in plan.warnings[0]
    plan = await planned(console, RewindGroupIntent(stream=STREAM, group="g", back=1))
    assert "1 of them is still pending" in plan.warnings[0]
    plan = await planned(console, RewindGroupIntent(stream=STREAM, group="g", to_end=True))
    assert plan.warnings == ()
    assert "4 entries will never be delivered to it" in plan.effects[1]


async def test_entries_that_the_group_was_given_since_the_plan_are_counted(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    grouped(server)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    deliver(server, STREAM, "g", "c1", 2)
    outcome = await applied(console, prepared)
    assert position(server, "g") == "0-0"
    assert (outcome.requested, outcome.applied) == (6, 8)
    assert outcome.notes == ("The group had read on: 8 entries are delivered again, not 6.",)
    # More than the script counts itself.
    monkeypatch.setattr(group_rewind, "GROWN", 1)
    deliver(server, STREAM, "g", "c1", 6)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    deliver(server, STREAM, "g", "c1", 4)
    outcome = await applied(console, prepared)
    assert outcome.notes == ("The group had read on: 10 entries are delivered again, not 6.",)


async def test_more_than_was_allowed_is_drift(server: RunningServer, console: Console) -> None:
    grouped(server)
    limits = Limits(max_count=7)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_start=True), limits)
    deliver(server, STREAM, "g", "c1", 2)
    with pytest.raises(StalePlan, match="more than 7 entries would be delivered again"):
        await applied(console, prepared)
    assert position(server, "g") == "8-1"


async def test_what_was_expected_may_not_grow(server: RunningServer, console: Console) -> None:
    grouped(server)
    prepared = await console.prepare(
        RewindGroupIntent(stream=STREAM, group="g", to_start=True), Limits(expect=6)
    )
    deliver(server, STREAM, "g", "c1", 2)
    with pytest.raises(StalePlan, match="more than 6 entries would be delivered again") as caught:
        await applied(console, prepared)
    assert (position(server, "g"), caught.value.exit_code) == ("8-1", 6)


async def test_a_group_that_was_moved_by_somebody_else_is_drift(
    server: RunningServer, console: Console
) -> None:
    grouped(server)
    back = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", back=3))
    forward = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_id=EntryId(8, 1)))
    server.command("XGROUP", "SETID", STREAM, "g", "5-1")
    with pytest.raises(StalePlan, match="was set back to 5-1"):
        await applied(console, back)
    server.command("XGROUP", "SETID", STREAM, "g", "9-1")
    with pytest.raises(StalePlan, match="has passed 8-1 by itself"):
        await applied(console, forward)
    server.command("XGROUP", "DESTROY", STREAM, "g")
    with pytest.raises(StalePlan, match="the group is gone"):
        await applied(console, back)


@pytest.mark.parametrize("moment", [timedelta(days=3), datetime.fromtimestamp(0.003, UTC)])
async def test_rewinding_to_a_time_can_be_undone(server: RunningServer, moment: datetime | timedelta) -> None:
    grouped(server)
    async with await open_console(server) as console:
        before = position(server, "g")
        outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_time=moment))
        assert position(server, "g") != before
        await done(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))
        assert position(server, "g") == before


async def test_long_ranges_have_bounds(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "_BUDGET", CountBudget(per_range=100, per_collection=100))
    grouped(server, 2_000, 1_500, 1_500)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_id=EntryId(1, 1)))
    assert prepared.evidence.between == Amount(100, 2_000)
    assert counts(prepared.plan) == {"redelivered.rewound": Amount(100, 2_000)}
    await applied(console, prepared)
    assert position(server, "g") == "1-1"


async def test_nowhere_and_beyond_the_end_are_refused(server: RunningServer, console: Console) -> None:
    grouped(server)
    with pytest.raises(ValueError, match="give one of --to-id"):
        await console.prepare(RewindGroupIntent(stream=STREAM, group="g"))
    with pytest.raises(Forbidden, match="ends at 10-1"):
        await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_id=EntryId(11, 0)))
    with pytest.raises(NotFound, match="no group nobody"):
        await console.prepare(RewindGroupIntent(stream=STREAM, group="nobody", to_start=True))
    with pytest.raises(NotFound, match="stream gone"):
        await console.prepare(RewindGroupIntent(stream="gone", group="g", to_start=True))


async def test_a_deleted_entry_ahead_leaves_the_counter_to_the_server(
    server: RunningServer, console: Console
) -> None:
    grouped(server)
    server.command("XDEL", STREAM, "9-1")
    await done(console, RewindGroupIntent(stream=STREAM, group="g", to_id=EntryId(2, 1)))
    if has_lag(server):
        assert group_info(server, "g")["lag"] is None
    assert len(deliver(server, STREAM, "g", "c3", 100)) == 7


async def test_rewinding_beside_consumers_that_read_on(server: RunningServer, console: Console) -> None:
    """However the readings fall, the group ends where it was set, or beyond by reading on from there."""
    grouped(server, 400, 100, 0)

    async def read_on() -> None:
        for _ in range(100):
            await asyncio.to_thread(deliver, server, STREAM, "g", "c1", 2)

    reading = asyncio.create_task(read_on())
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    await reading
    assert outcome.complete
    # Everything is given to somebody in the end, once more or for the first time.
    deliver(server, STREAM, "g", "c2", 1_000)
    assert server.command("XPENDING", STREAM, "g")[0] == 400


async def test_rewinding_looks_no_further_than_the_utmost_id(server: RunningServer, console: Console) -> None:
    grouped(server, entries=2, given=2, acked=0)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    add_numbered(server, STREAM, 100, 162)
    server.command("XADD", STREAM, f"{MAX_PART}-{MAX_PART}", "f", "v")
    assert len(deliver(server, STREAM, "g", "c1", 100)) == 64
    assert (await applied(console, prepared)).complete
    assert position(server, "g") == "0-0"


async def test_rewind_that_is_killed_at_any_batch_can_be_undone(server: RunningServer) -> None:
    intent, moved = RewindGroupIntent(stream=STREAM, group="g", to_start=True), 0
    for batch in range(1, killed.LATEST):
        server.flush()
        add_counting(server, STREAM, 1, 10)
        server.command("XGROUP", "CREATE", STREAM, "g", "7-0", "ENTRIESREAD", 7)
        before = server.command("XINFO", "GROUPS", STREAM)
        fate = killed.Fate(killed.Moment.AFTER, batch)
        if not killed.Operator(server.options, intent, fate).end().killed:
            break
        if server.command("XINFO", "GROUPS", STREAM) != before:
            moved += 1
            ((action, _), *_) = server.command("XRANGE", AUDIT, "-", "+", "COUNT", 1)
            async with await open_console(server) as console:
                await done(console, UndoIntent(audit_id=EntryId.parse(action)))
            assert server.command("XINFO", "GROUPS", STREAM) == before
            assert server.command("KEYS", "*:undo:*") == []
    assert moved
