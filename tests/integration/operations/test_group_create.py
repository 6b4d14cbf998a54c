"""Creating groups on real servers."""

import pytest

from streamops.errors import Forbidden, NotFound, SettingsError, StalePlan
from streamops.model.acting import Impact
from streamops.model.entries import Amount, EntryId
from streamops.operations.console import Console
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.undo.intent import UndoIntent
from tests.support.operations.doing import applied, done, planned
from tests.support.operations.grouping import STREAM, group_info, has_lag, position
from tests.support.servers import RunningServer
from tests.support.streams import add_numbered, deliver


@pytest.mark.parametrize(
    ("at", "ahead"), [("0", 8), ("$", 0), ("5-1", 5), ("5", 6), ("2-1", 8), ("10-1", 0), ("99-1", 0)]
)
async def test_a_group_is_created_where_it_was_asked_for_with_the_right_lag(
    server: RunningServer, console: Console, at: str, ahead: int
) -> None:
    add_numbered(server, STREAM, 1, 10)
    server.command("XTRIM", STREAM, "MAXLEN", 8)
    prepared = await console.prepare(CreateGroupIntent(stream=STREAM, group="g", at=at))
    assert prepared.plan.count == 1
    assert prepared.plan.impact is Impact.REVERSIBLE
    assert prepared.evidence.ahead == Amount(ahead, ahead)
    outcome = await applied(console, prepared)
    assert (outcome.applied, outcome.complete) == (1, True)
    if has_lag(server):
        assert group_info(server, "g")["lag"] == ahead
        server.command("XADD", STREAM, "100-1", "f", "v")
        assert group_info(server, "g")["lag"] == ahead + 1
    else:
        server.command("XADD", STREAM, "100-1", "f", "v")
    given = deliver(server, STREAM, "g", "c", 100)
    assert len(given) == ahead + 1
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 0


async def test_creating_at_the_end_means_the_end_at_that_moment(
    server: RunningServer, console: Console
) -> None:
    add_numbered(server, STREAM, 1, 3)
    prepared = await console.prepare(CreateGroupIntent(stream=STREAM, group="g"))
    add_numbered(server, STREAM, 4, 5)
    await applied(console, prepared)
    assert position(server, "g") == "5-1"
    if has_lag(server):
        add_numbered(server, STREAM, 6, 6)
        assert group_info(server, "g")["lag"] == 1


async def test_creating_twice_is_nothing_at_the_same_position_and_refused_elsewhere(
    server: RunningServer, console: Console
) -> None:
    add_numbered(server, STREAM, 1, 3)
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
    add_numbered(server, STREAM, 1, 2)
    assert deliver(server, STREAM, "g", "c", 10) == ["1-1", "2-1"]


async def test_what_happened_since_the_plan_is_drift(server: RunningServer, console: Console) -> None:
    make = await console.prepare(CreateGroupIntent(stream=STREAM, group="g", mkstream=True))
    add_numbered(server, STREAM, 1, 3)
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


async def test_a_created_group_is_destroyed_by_the_command_that_the_plan_names(
    server: RunningServer, console: Console
) -> None:
    add_numbered(server, STREAM, 1, 3)
    intent = CreateGroupIntent(stream=STREAM, group="g", at="0")
    plan = await planned(console, intent)
    assert (plan.impact, plan.reversible, plan.opposite) == (
        Impact.REVERSIBLE,
        False,
        f"streamops groups rm {STREAM} g",
    )
    outcome = await done(console, intent)
    with pytest.raises(Forbidden, match="cannot be undone") as caught:
        await console.prepare(UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))
    assert plan.opposite in caught.value.hint


async def test_a_given_counter_is_set(server: RunningServer, console: Console) -> None:
    add_numbered(server, STREAM, 1, 3)
    await done(console, CreateGroupIntent(stream=STREAM, group="g", at="2-1", entries_read=2))
    (row,) = server.command("XINFO", "GROUPS", STREAM)
    assert row[row.index(b"entries-read") + 1] == 2
    for at, number in (("$", 2), ("2-1", -1)):
        with pytest.raises(ValueError, match="--entries-read"):
            CreateGroupIntent(stream=STREAM, group="h", at=at, entries_read=number)


@pytest.mark.parametrize("at", ["", "x", "1-x", "-1", "1-2-3", "99999999999999999999-1"])
async def test_a_position_that_is_none_is_refused(server: RunningServer, console: Console, at: str) -> None:
    add_numbered(server, STREAM, 1, 1)
    with pytest.raises(SettingsError, match="--at"):
        await console.prepare(CreateGroupIntent(stream=STREAM, group="g", at=at))
