"""What a group lost before the first reading: bounded by the counters of the first reading, and 0 only where
that is known."""

from collections.abc import AsyncIterator

import pytest

from streamops.model.observation import FindingCode, GroupView, Health
from streamops.operations.console import Console
from tests.support.operations.doing import open_console
from tests.support.servers import RunningServer
from tests.support.streams import deliver

STREAM = "orders"


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    """A thousand entries 1-0 to 1000-0, of which ``billing`` was given a hundred."""
    pipe = server.connect().pipeline()
    for number in range(1, 1_001):
        pipe.xadd(STREAM, {"n": number}, id=f"{number}-0")
    pipe.xgroup_create(STREAM, "billing", "0")
    pipe.execute()
    deliver(server, STREAM, "billing", "w", 100)
    async with await open_console(server) as opened:
        yield opened


async def looked_at(console: Console, group: str = "billing") -> GroupView:
    (stream,) = (await console.observe([STREAM])).streams
    (found,) = (view for view in stream.groups if view.group.name == group)
    return found


def found_lost(view: GroupView) -> list[tuple[Health, str]]:
    return [(one.level, one.text) for one in view.findings if one.code is FindingCode.LOST]


# every server: before Redis 7.0 none counts what was added
async def test_group_overtaken_before_watching_is_told_with_a_bound(
    server: RunningServer, console: Console
) -> None:
    server.command("XTRIM", STREAM, "MAXLEN", "=", 200)
    counts_added = server.label != "redis-6.2"
    at_most = 700 if counts_added else None
    warned = [(Health.WARN, "at most 700 entries were trimmed before delivery, before the first reading")]
    for _ in range(2):
        view = await looked_at(console)
        assert (view.lost, view.lost_at_most) == (None, at_most)
        assert found_lost(view) == (warned if counts_added else [])
    server.command("XTRIM", STREAM, "MAXLEN", "=", 150)
    view = await looked_at(console)
    assert (view.lost, view.lost_at_most) == (None, at_most and 750)
    assert [level for level, _ in found_lost(view)] == ([Health.CRITICAL] if counts_added else [])


# every server: read counters move differently once trimming has overtaken a group
async def test_group_that_trimming_has_not_overtaken_lost_nothing(
    server: RunningServer, console: Console
) -> None:
    server.command("XTRIM", STREAM, "MAXLEN", "=", 901)
    for count in (0, 901):
        if count:
            deliver(server, STREAM, "billing", "w", count)
        view = await looked_at(console)
        assert (view.lost, view.lost_at_most, found_lost(view)) == (0, 0, [])


async def test_group_created_while_watching_lost_nothing(server: RunningServer) -> None:
    for number in range(1, 11):
        server.command("XADD", STREAM, f"{number}-0", "n", number)
    server.command("XTRIM", STREAM, "MAXLEN", "=", 2)
    async with await open_console(server) as console:
        await console.observe([STREAM])
        server.command("XGROUP", "CREATE", STREAM, "late", "0")
        assert (await looked_at(console, "late")).lost == 0


async def test_group_set_back_before_entries_it_had_passed_is_not_told_as_lost(
    server: RunningServer,
) -> None:
    for number in range(1, 11):
        server.command("XADD", STREAM, f"{number}-0", "n", number)
    server.command("XGROUP", "CREATE", STREAM, "billing", "0")
    deliver(server, STREAM, "billing", "w", 10)
    server.command("XTRIM", STREAM, "MAXLEN", "=", 2)
    async with await open_console(server) as console:
        await looked_at(console)
        server.command("XGROUP", "SETID", STREAM, "billing", "0")
        view = await looked_at(console)
        assert (view.lost, found_lost(view)) == (0, [])
