"""Creating, rewinding and destroying groups on real servers."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from streamops.errors import Forbidden, NotFound, SettingsError, StalePlan
from streamops.model.acting import Actor, Assent, Limits, Progress, Tier
from streamops.model.acts.consumers import PruneConsumersIntent
from streamops.model.acts.groups import (
    Amount,
    CreateGroupIntent,
    DestroyGroupIntent,
    RewindGroupIntent,
)
from streamops.model.acts.restore import RestoreIntent
from streamops.model.acts.undo import UndoIntent
from streamops.model.ids import MAX_PART, EntryId
from streamops.operate.console import Console
from streamops.operate.operations import group_destroy, group_rewind, looking
from streamops.operate.tallies import CountBudget
from streamops.plans import groups as plans
from tests.deployments import RunningCluster
from tests.operate.operations.doing import applied, done, open_console, planned
from tests.servers import RunningServer

STREAM = "orders"


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await open_console(server) as opened:
        yield opened


def add(server: RunningServer, first: int, last: int) -> None:
    """Entries ``first``-1 to ``last``-1."""
    pipeline = server.client.pipeline(transaction=False)
    for number in range(first, last + 1):
        pipeline.xadd(STREAM, {"f": "v"}, id=f"{number}-1")
    pipeline.execute()


def read(server: RunningServer, group: str, consumer: str, count: int) -> list[str]:
    """Read with a group; the IDs that it was given."""
    reply = server.command("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", STREAM, ">")
    return [entry[0].decode() for entry in reply[0][1]] if reply else []


def group_info(server: RunningServer, group: str, stream: str = STREAM) -> dict[str, Any]:
    for flat in server.command("XINFO", "GROUPS", stream):
        info = {flat[at].decode(): flat[at + 1] for at in range(0, len(flat), 2)}
        if info["name"].decode() == group:
            return info
    raise AssertionError(f"no group {group}")


def position(server: RunningServer, group: str) -> str:
    where: str = group_info(server, group)["last-delivered-id"].decode()
    return where


def has_lag(server: RunningServer) -> bool:
    return server.program.version >= (7, 0, 0)


# Creating.


@pytest.mark.parametrize(
    ("at", "ahead"), [("0", 8), ("$", 0), ("5-1", 5), ("5", 6), ("2-1", 8), ("10-1", 0), ("99-1", 0)]
)
async def test_a_group_is_created_where_it_was_asked_for_with_the_right_lag(
    server: RunningServer, console: Console, at: str, ahead: int
) -> None:
    add(server, 1, 10)
    server.command("XTRIM", STREAM, "MAXLEN", 8)
    prepared = await console.prepare(CreateGroupIntent(stream=STREAM, group="g", at=at))
    assert prepared.plan.count == 1
    assert prepared.plan.tier is Tier.REVERSIBLE
    assert prepared.evidence.ahead == Amount(ahead, ahead)
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.complete) == (1, True)
    if has_lag(server):
        assert group_info(server, "g")["lag"] == ahead
        server.command("XADD", STREAM, "100-1", "f", "v")
        assert group_info(server, "g")["lag"] == ahead + 1
    else:
        server.command("XADD", STREAM, "100-1", "f", "v")
    given = read(server, "g", "c", 100)
    assert len(given) == ahead + 1
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 0


async def test_creating_at_the_end_means_the_end_at_that_moment(
    server: RunningServer, console: Console
) -> None:
    add(server, 1, 3)
    prepared = await console.prepare(CreateGroupIntent(stream=STREAM, group="g"))
    add(server, 4, 5)
    await applied(console, prepared)
    assert position(server, "g") == "5-1"
    if has_lag(server):
        add(server, 6, 6)
        assert group_info(server, "g")["lag"] == 1


async def test_creating_twice_is_nothing_at_the_same_position_and_refused_elsewhere(
    server: RunningServer, console: Console
) -> None:
    add(server, 1, 3)
    await done(console, CreateGroupIntent(stream=STREAM, group="g", at="2-1"))
    again = await planned(console, CreateGroupIntent(stream=STREAM, group="g", at="2-1"))
    assert again.count == 0
    assert again.effects == ("Group g exists already, at 2-1; nothing is done.",)
    with pytest.raises(Forbidden, match="exists already, at 2-1"):
        await console.prepare(CreateGroupIntent(stream=STREAM, group="g", at="0"))


async def test_a_stream_is_created_only_where_that_was_asked_for(
    server: RunningServer, console: Console
) -> None:
    with pytest.raises(NotFound) as caught:
        await console.prepare(CreateGroupIntent(stream=STREAM, group="g"))
    assert "--mkstream" in caught.value.hint
    prepared = await console.prepare(CreateGroupIntent(stream=STREAM, group="g", at="0", mkstream=True))
    assert prepared.plan.effects[0] == "Stream orders is created, empty, and the group in it."
    await applied(console, prepared)
    assert server.command("XLEN", STREAM) == 0
    assert position(server, "g") == "0-0"
    add(server, 1, 2)
    assert read(server, "g", "c", 10) == ["1-1", "2-1"]


async def test_what_happened_since_the_plan_is_drift(server: RunningServer, console: Console) -> None:
    make = await console.prepare(CreateGroupIntent(stream=STREAM, group="g", mkstream=True))
    add(server, 1, 3)
    with pytest.raises(StalePlan, match="the stream exists now"):
        await applied(console, make)
    prepared = await console.prepare(CreateGroupIntent(stream=STREAM, group="g"))
    server.command("XGROUP", "CREATE", STREAM, "g", "1-1")
    with pytest.raises(StalePlan, match="the group exists now, at 1-1"):
        await applied(console, prepared)
    prepared = await console.prepare(CreateGroupIntent(stream=STREAM, group="h"))
    server.command("DEL", STREAM)
    with pytest.raises((StalePlan, NotFound)):
        await applied(console, prepared)
    assert not server.command("EXISTS", STREAM)


async def test_creating_can_be_undone_while_nothing_was_delivered(
    server: RunningServer, console: Console
) -> None:
    add(server, 1, 3)
    outcome = await done(console, CreateGroupIntent(stream=STREAM, group="g", at="0"))
    undo = UndoIntent(audit_id=EntryId.parse(outcome.audit_id))
    plan = await planned(console, undo)
    assert (plan.operation, plan.tier, plan.count) == ("groups.destroy", Tier.REVERSIBLE, 1)
    read(server, "g", "c", 1)
    with pytest.raises(Forbidden, match="has been given entries since it was created"):
        await console.prepare(undo)
    other = await done(console, CreateGroupIntent(stream=STREAM, group="h", at="0"))
    await done(console, UndoIntent(audit_id=EntryId.parse(other.audit_id)))
    assert [flat[1] for flat in server.command("XINFO", "GROUPS", STREAM)] == [b"g"]


@pytest.mark.parametrize("at", ["", "x", "1-x", "-1", "1-2-3", "99999999999999999999-1"])
async def test_a_position_that_is_none_is_refused(server: RunningServer, console: Console, at: str) -> None:
    add(server, 1, 1)
    with pytest.raises(SettingsError, match="--at"):
        await console.prepare(CreateGroupIntent(stream=STREAM, group="g", at=at))


# Rewinding.


def grouped(server: RunningServer, entries: int = 10, given: int = 6, acked: int = 4) -> None:
    """A group that was given some entries, of which it acknowledged some."""
    add(server, 1, entries)
    server.command("XGROUP", "CREATE", STREAM, "g", "0")
    ids = read(server, "g", "c1", given // 2) + read(server, "g", "c2", given - given // 2)
    if acked:
        server.command("XACK", STREAM, "g", *ids[:acked])


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
    assert prepared.plan.tier is Tier.REDELIVERS
    outcome = await applied(console, prepared)
    assert outcome.applied == count
    if not count:
        assert position(server, "g") == "6-1"
        return
    assert position(server, "g") == target
    ahead = 4 + count if prepared.evidence.target < EntryId(6, 1) else 4 - count
    if has_lag(server):
        assert group_info(server, "g")["lag"] == ahead
    assert len(read(server, "g", "c3", 100)) == ahead
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 0


async def test_what_is_pending_still_is_told_with_its_owners(server: RunningServer, console: Console) -> None:
    grouped(server)
    plan = await planned(console, RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    assert plan.effects[1] == "6 entries will be delivered again to its consumers."
    assert "2 of them are still pending: whoever reads them next takes them from c2 (2)" in plan.warnings[0]
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
    read(server, "g", "c1", 2)
    outcome = await applied(console, prepared)
    assert position(server, "g") == "0-0"
    assert (outcome.requested, outcome.applied) == (6, 8)
    assert outcome.notes == ("The group had read on: 8 entries are given again, not 6.",)
    # More than the script counts itself.
    monkeypatch.setattr(group_rewind, "GROWN", 1)
    read(server, "g", "c1", 6)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    read(server, "g", "c1", 4)
    outcome = await applied(console, prepared)
    assert outcome.notes == ("The group had read on: 10 entries are given again, not 6.",)


async def test_more_than_was_allowed_is_drift(server: RunningServer, console: Console) -> None:
    grouped(server)
    limits = Limits(max_count=7)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_start=True), limits)
    read(server, "g", "c1", 2)
    with pytest.raises(StalePlan, match="more than 7 entries would be given again"):
        await applied(console, prepared)
    assert position(server, "g") == "8-1"


async def test_what_was_expected_may_not_grow(server: RunningServer, console: Console) -> None:
    grouped(server)
    prepared = await console.prepare(
        RewindGroupIntent(stream=STREAM, group="g", to_start=True), Limits(expect=6)
    )
    read(server, "g", "c1", 2)
    with pytest.raises(StalePlan, match="more than 6 entries would be given again") as caught:
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


async def test_rewinding_can_be_undone(server: RunningServer, console: Console) -> None:
    grouped(server)
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    read(server, "g", "c3", 2)
    undo = UndoIntent(audit_id=EntryId.parse(outcome.audit_id))
    plan = await planned(console, undo)
    assert (plan.operation, plan.count) == ("groups.rewind", 4)
    await done(console, undo)
    assert position(server, "g") == "6-1"
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 4
    # Forward: what was skipped is given after all, and what was read since once more.
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_id=EntryId(8, 1)))
    read(server, "g", "c3", 1)
    assert (await done(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))).applied == 3
    assert position(server, "g") == "6-1"
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 4
    # Once it has passed its former position by itself, there is nothing to take back.
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", back=1))
    read(server, "g", "c3", 3)
    assert (await planned(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))).count == 0


@pytest.mark.parametrize("moment", [timedelta(days=3), datetime.fromtimestamp(0.003, UTC)])
async def test_rewinding_to_a_time_can_be_undone(
    any_server: RunningServer, moment: datetime | timedelta
) -> None:
    grouped(any_server)
    async with await open_console(any_server) as console:
        before = position(any_server, "g")
        outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_time=moment))
        assert position(any_server, "g") != before
        await done(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))
        assert position(any_server, "g") == before


async def test_long_ranges_have_bounds(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_BUDGET", CountBudget(per_range=100, per_collection=100))
    grouped(server, 2_000, 1_500, 1_500)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_id=EntryId(1, 1)))
    assert prepared.evidence.between == Amount(100, 2_000)
    assert prepared.plan.effects[1].startswith("Between 100 and 2,000 entries (counting stopped there) will")
    await applied(console, prepared)
    assert position(server, "g") == "1-1"


async def test_nowhere_and_beyond_the_end_are_refused(server: RunningServer, console: Console) -> None:
    grouped(server)
    with pytest.raises(SettingsError, match="where to"):
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
    assert len(read(server, "g", "c3", 100)) == 7


async def test_rewinding_beside_consumers_that_read_on(server: RunningServer, console: Console) -> None:
    """However the readings fall, the group ends where it was set, or beyond by reading on from there."""
    grouped(server, 400, 100, 0)

    async def read_on() -> None:
        for _ in range(100):
            await asyncio.to_thread(read, server, "g", "c1", 2)

    reading = asyncio.create_task(read_on())
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    await reading
    assert outcome.complete
    # Everything is given to somebody in the end, once more or for the first time.
    read(server, "g", "c2", 1_000)
    assert server.command("XPENDING", STREAM, "g")[0] == 400


# Destroying.


async def test_a_group_is_destroyed_and_what_it_held_is_in_the_file(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    server.command("XGROUP", "CREATE", STREAM, "other", "0")
    backup = tmp_path / "billing.jsonl"
    prepared = await console.prepare(DestroyGroupIntent(stream=STREAM, group="g", backup=str(backup)))
    plan = prepared.plan
    assert (plan.tier, plan.count, plan.confirm, prepared.consent.word) == (
        Tier.LOSES,
        2,
        "orders/g",
        "orders/g",
    )
    assert "Its pending entries, by consumer: c2 (2)." in plan.effects
    assert plan.loses == (
        "which entries the group was given (it stands at 6-1), 2 pending entries that will not be redelivered, "
        "4 entries that it was still to be given."
    )
    assert "Other groups (other) are not touched." in plan.effects
    assert "Seen just now: c1, c2." in plan.warnings[0]
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.notes) == (2, (f"Its position and its pending rows are in {backup}.",))
    assert [flat[1] for flat in server.command("XINFO", "GROUPS", STREAM)] == [b"other"]
    assert len(backup.read_bytes().splitlines()) == 3
    assert server.command("XLEN", STREAM) == 10


async def test_a_group_that_is_used_again_is_not_destroyed(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    backup = tmp_path / "g.jsonl"
    prepared = await console.prepare(DestroyGroupIntent(stream=STREAM, group="g", backup=str(backup)))
    read(server, "g", "c1", 1)
    with pytest.raises(StalePlan, match="its consumers have read on, to 7-1"):
        await applied(console, prepared)
    assert not backup.exists()
    prepared = await console.prepare(DestroyGroupIntent(stream=STREAM, group="g", backup=str(backup)))
    # An acknowledged entry made pending again by hand.
    server.command("XCLAIM", STREAM, "g", "c1", 0, "1-1", "FORCE", "JUSTID")
    with pytest.raises(StalePlan, match="it has 4 pending entries, more than the 3 of the plan"):
        await applied(console, prepared)
    assert position(server, "g") == "7-1"
    server.command("XACK", STREAM, "g", "1-1")
    await applied(console, prepared)


async def test_a_long_list_is_emptied_in_batches_first(
    server: RunningServer, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_destroy, "DESTROYED_AT_ONCE", 100)
    monkeypatch.setattr(plans, "DESTROYED_AT_ONCE", 100)
    monkeypatch.setattr(group_destroy, "BATCH", 100)
    grouped(server, 450, 430, 0)
    backup = tmp_path / "g.jsonl"
    intent = DestroyGroupIntent(stream=STREAM, group="g", backup=str(backup))
    prepared = await console.prepare(intent)
    assert "430 pending rows are taken off in batches first" in prepared.plan.effects[2]
    told: list[int] = []

    def interrupt(progress: Progress) -> None:
        told.append(progress.done)
        if len(told) == 2:
            read(server, "g", "c1", 1)

    with pytest.raises(Exception, match="its consumers have read on") as caught:
        await console.apply(prepared, Assent(typed=prepared.consent.word), interrupt)
    assert caught.value.outcome.applied == 200  # type: ignore[attr-defined]
    assert caught.value.hint == (  # type: ignore[attr-defined]
        "The group is still there; 200 pending rows were taken off. "
        f"`streamops restore {backup}` brings them back."
    )
    # What was taken off is in the file, which stays; the next plan needs another one.
    assert len(backup.read_bytes().splitlines()) == 1 + 300
    with pytest.raises(SettingsError, match="exists already"):
        await console.prepare(intent)
    assert (await done(console, RestoreIntent(file=str(backup)))).applied == 200
    outcome = await done(
        console, DestroyGroupIntent(stream=STREAM, group="g", backup=str(tmp_path / "rest.jsonl"))
    )
    assert outcome.applied == 431
    assert server.command("XINFO", "GROUPS", STREAM) == []


async def test_a_long_list_is_not_emptied_without_a_backup(
    server: RunningServer, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "DESTROYED_AT_ONCE", 5)
    grouped(server, 10, 6, 0)
    with pytest.raises(Forbidden, match="has 6 pending rows and no backup"):
        await console.prepare(DestroyGroupIntent(stream=STREAM, group="g"))


async def test_destroying_asks_for_the_name(server: RunningServer, console: Console) -> None:
    grouped(server)
    prepared = await console.prepare(DestroyGroupIntent(stream=STREAM, group="g"))

    with pytest.raises(Forbidden, match="not agreed to"):
        await console.apply(prepared, Assent(yes=True))
    with pytest.raises(NotFound, match="no group nobody"):
        await console.prepare(DestroyGroupIntent(stream=STREAM, group="nobody"))


async def test_on_a_cluster(cluster: RunningCluster, tmp_path: Path) -> None:
    async with await Console.open(cluster.options, actor=Actor("ann", "here", 1)) as console:
        for stream in ("orders", "{shop}:orders", "a}b"):
            await done(console, CreateGroupIntent(stream=stream, group="g", at="0", mkstream=True))
            await done(console, CreateGroupIntent(stream=stream, group="h", at="$"))
            await done(console, RewindGroupIntent(stream=stream, group="g", to_end=True))
            assert (await planned(console, PruneConsumersIntent(stream=stream, group="g"))).count == 0
            backup = str(tmp_path / stream.strip("{}").replace(":", "-"))
            await done(console, DestroyGroupIntent(stream=stream, group="g", backup=backup))
            assert (await planned(console, DestroyGroupIntent(stream=stream, group="h"))).count == 1
            with pytest.raises(NotFound):
                await console.prepare(DestroyGroupIntent(stream=stream, group="g"))


async def test_rewinding_looks_no_further_than_the_utmost_id(server: RunningServer, console: Console) -> None:
    grouped(server, entries=2, given=2, acked=0)
    prepared = await console.prepare(RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    add(server, 100, 162)
    server.command("XADD", STREAM, f"{MAX_PART}-{MAX_PART}", "f", "v")
    assert len(read(server, "g", "c1", 100)) == 64
    assert (await applied(console, prepared)).complete
    assert position(server, "g") == "0-0"
