"""Restoring destroyed groups: their position, their rows, their lag."""

import json
from pathlib import Path

import pytest

from streamops.errors import Forbidden, SettingsError, StalePlan
from streamops.model.acts.groups import DestroyGroupIntent
from streamops.model.acts.restore import RestoreIntent
from streamops.operate.console import Console
from tests.support.operate.operations.doing import applied, done, open_console, planned
from tests.support.operate.operations.restoring import STREAM
from tests.support.servers import RunningServer


def grouped(server: RunningServer) -> None:
    for number in range(1, 11):
        server.command("XADD", STREAM, f"{number}-1", "n", number)
    server.command("XGROUP", "CREATE", STREAM, "g", "0")
    for consumer, count in (("c1", 4), ("c\udce9".encode("utf-8", "surrogateescape"), 3)):
        server.command("XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "STREAMS", STREAM, ">")
    server.command("XCLAIM", STREAM, "g", "c1", 0, "2-1", "IDLE", 3_600_000, "RETRYCOUNT", 5, "JUSTID")
    server.command("XACK", STREAM, "g", "1-1")


def pending(server: RunningServer) -> list[tuple[bytes, bytes, int]]:
    told = server.command("XPENDING", STREAM, "g", "-", "+", 100)
    return [(one, owner, count) for one, owner, _, count in told]


async def test_a_destroyed_group_comes_back(server: RunningServer, console: Console, tmp_path: Path) -> None:
    grouped(server)
    before, path = pending(server), str(tmp_path / "g")
    info = server.command("XINFO", "GROUPS", STREAM)
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    prepared = await console.prepare(RestoreIntent(file=path))
    plan = prepared.plan
    assert (plan.target, plan.count, plan.unit) == ("orders/g", 6, ("pending entry", "pending entries"))
    assert plan.effects[0] == "Group g is created at 7-1, where it stood."
    outcome = await applied(console, prepared)
    assert outcome.applied == 6
    assert pending(server) == before
    # The consumers are seen just now; all else is as it was, lag included.
    assert server.command("XINFO", "GROUPS", STREAM) == info
    idle = server.command("XPENDING", STREAM, "g", "2-1", "2-1", 1)[0][2]
    assert 3_600_000 <= idle < 3_700_000
    again = await done(console, RestoreIntent(file=path, again=True))
    assert (again.applied, again.skipped_count) == (0, 6)
    assert {skip.reason for skip in again.skipped} == {"pending again by now"}


async def test_rows_whose_entries_are_gone_are_told(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    server.command("XDEL", STREAM, "3-1")
    server.command("XGROUP", "CREATE", STREAM, "g", "5-1")
    prepared = await console.prepare(RestoreIntent(file=path))
    assert "it stands at 5-1 and stays there, and not at 7-1" in prepared.plan.warnings[0]
    outcome = await applied(console, prepared)
    told = {skip.id: skip.reason for skip in outcome.skipped}
    rewound = "the group was set back before it and will be given it anyway"
    assert told == {"3-1": "its entry no longer exists", "6-1": rewound, "7-1": rewound}
    assert [one for one, _, _ in pending(server)] == [b"2-1", b"4-1", b"5-1"]


async def test_the_lag_is_right_in_another_stream_too(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    for number in (5, 8, 9):
        server.command("XADD", "other", f"{number}-1", "n", number)
    outcome = await done(console, RestoreIntent(file=path, to="other"))
    assert (outcome.applied, outcome.skipped_count) == (1, 5)
    info = server.command("XINFO", "GROUPS", "other")[0]
    if server.program.version >= (7, 0, 0):
        assert info[info.index(b"lag") + 1] == 2


async def test_a_group_needs_its_stream(server: RunningServer, console: Console, tmp_path: Path) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    server.command("DEL", STREAM)
    with pytest.raises(Forbidden, match="there is no such stream"):
        await console.prepare(RestoreIntent(file=path))
    server.command("XADD", STREAM, "3-1", "a", "b")
    with pytest.raises(Forbidden, match="it ends at 3-1"):
        await console.prepare(RestoreIntent(file=path))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"deliveries": -1}, "line 2 ("),
        ({"idle_seconds": 1e300}, "line 2 ("),
        ({"group": "h"}, "line 2 (it is of another group"),
        ({"id": "x"}, "line 2 (not an entry ID"),
    ],
)
async def test_bad_lines_of_a_groups_file(
    server: RunningServer, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    grouped(server)
    path = tmp_path / "g"
    async with await open_console(server) as console:
        await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=str(path)))
        lines = path.read_bytes().splitlines()
        lines[1] = json.dumps(json.loads(lines[1]) | change).encode()
        path.write_bytes(b"\n".join(lines))
        with pytest.raises(SettingsError) as caught:
            await console.prepare(RestoreIntent(file=str(path)))
    assert words in caught.value.message


async def test_a_group_is_given_its_rows_once(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    other = await console.prepare(RestoreIntent(file=path))
    await done(console, RestoreIntent(file=path))
    server.command("XACK", STREAM, "g", *(f"{number}-1" for number in range(1, 11)))
    plan = await planned(console, RestoreIntent(file=path))
    assert plan.count == 0
    assert plan.effects[0].startswith("All 6 pending entries of this file were restored before")
    with pytest.raises(StalePlan):
        await applied(console, other)
    assert pending(server) == []
    assert (await done(console, RestoreIntent(file=path, again=True))).applied == 6
    # With the group goes what was restored of it.
    server.command("XGROUP", "DESTROY", STREAM, "g")
    assert (await done(console, RestoreIntent(file=path))).applied == 6


async def test_two_give_a_group_its_rows_once(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    grouped(server)
    path = str(tmp_path / "g")
    await done(console, DestroyGroupIntent(stream=STREAM, group="g", backup=path))
    server.command("XGROUP", "CREATE", STREAM, "g", "7-1")
    first, second = [await console.prepare(RestoreIntent(file=path)) for _ in range(2)]
    assert (await applied(console, first)).applied == 6
    server.command("XACK", STREAM, "g", *(f"{number}-1" for number in range(1, 11)))
    with pytest.raises(StalePlan, match="restored more of this file meanwhile"):
        await applied(console, second)
    assert pending(server) == []
