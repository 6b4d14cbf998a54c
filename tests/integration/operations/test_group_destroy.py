"""Destroying groups on real servers."""

from pathlib import Path

import pytest

from streamops.errors import Forbidden, NotFound, SettingsError, StalePlan
from streamops.model.acting import Confirmation, Impact, Progress
from streamops.operations.console import Console
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_destroy import plan as plans
from streamops.operations.groups_destroy import run as group_destroy
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from tests.support.operations.doing import applied, done
from tests.support.operations.grouping import STREAM, grouped, position
from tests.support.servers import RunningServer
from tests.support.streams import deliver


async def test_a_group_is_destroyed_and_what_it_held_is_in_the_file(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    server.command("XGROUP", "CREATE", STREAM, "other", "0")
    backup = tmp_path / "billing.jsonl"
    prepared = await console.prepare(DestroyGroupIntent(stream=STREAM, group="g", backup=str(backup)))
    plan = prepared.plan
    assert (plan.impact, plan.count, plan.confirm, prepared.policy.word) == (
        Impact.DESTRUCTIVE,
        2,
        "orders/g",
        "orders/g",
    )
    assert "Its pending entries, by consumer: c2 (2)." in plan.effects
    assert plan.loses == (
        "The record of what was delivered to the group, up to 6-1. 2 pending entries that will not be redelivered. "
        "The delivery of 4 entries to this group; they stay in the stream."
    )
    assert "Other groups (other) are not affected." in plan.effects
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
    deliver(server, STREAM, "g", "c1", 1)
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
    assert "430 pending rows are removed in batches first" in prepared.plan.effects[2]
    told: list[int] = []

    def interrupt(progress: Progress) -> None:
        told.append(progress.done)
        if len(told) == 2:
            deliver(server, STREAM, "g", "c1", 1)

    with pytest.raises(Exception, match="its consumers have read on") as caught:
        await console.apply(prepared, Confirmation(typed=prepared.policy.word), interrupt)
    assert caught.value.outcome.applied == 200  # type: ignore[attr-defined]
    assert caught.value.hint == (  # type: ignore[attr-defined]
        f"The group is still there; 200 pending rows were removed: {backup} lists them."
    )
    # What was taken off is in the file, which stays; the next plan needs another one.
    assert len(backup.read_bytes().splitlines()) == 1 + 300
    with pytest.raises(SettingsError, match="exists already"):
        await console.prepare(intent)
    outcome = await done(
        console, DestroyGroupIntent(stream=STREAM, group="g", backup=str(tmp_path / "rest.jsonl"))
    )
    assert outcome.applied == 231
    assert server.command("XINFO", "GROUPS", STREAM) == []


async def test_the_command_that_the_plan_prints_brings_the_position_back(
    server: RunningServer, console: Console
) -> None:
    grouped(server)
    before = server.command("XINFO", "GROUPS", STREAM)[0]
    prepared = await console.prepare(DestroyGroupIntent(stream=STREAM, group="g"))
    counter = before[before.index(b"entries-read") + 1]
    line = f"streamops groups create {STREAM} g --at 6-1 --entries-read {counter}"
    assert f"`{line}` restores the position, but nothing that was pending." in prepared.plan.effects
    await applied(console, prepared)
    await done(console, CreateGroupIntent(stream=STREAM, group="g", at="6-1", entries_read=counter))
    after = server.command("XINFO", "GROUPS", STREAM)[0]
    for name in (b"last-delivered-id", b"entries-read", b"lag"):
        assert after[after.index(name) + 1] == before[before.index(name) + 1], name


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

    with pytest.raises(Forbidden, match="not confirmed"):
        await console.apply(prepared, Confirmation(yes=True))
    with pytest.raises(NotFound, match="no group nobody"):
        await console.prepare(DestroyGroupIntent(stream=STREAM, group="nobody"))
