"""Deleting entries on real servers: written to a file first, told to every group."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from streamops.model.acting import Impact
from streamops.operations.console import Console
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from tests.support.operations.delete import NONE, STREAM, add_ten_read_in_part, ids
from tests.support.operations.doing import open_console, planned
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    add_ten_read_in_part(server)
    async with await open_console(server) as opened:
        yield opened


async def test_every_group_is_told_of(server: RunningServer, console: Console, tmp_path: Path) -> None:
    file = tmp_path / "b.jsonl"
    plan = await planned(console, DeleteIntent(stream=STREAM, ids=(*ids(1, 3, 4, 6), NONE), backup=str(file)))
    assert (plan.impact, plan.count, plan.confirm, plan.undo) == (Impact.DESTRUCTIVE, 4, STREAM, "")
    first, billing, *rest = plan.effects
    assert billing.startswith("Group billing never gets 1 entry that it has yet to read")
    # Since Redis 8.2 the pending rows go with their entries.
    if server.label == "redis-8.2":
        assert (
            first
            == "4 entries are deleted for all groups, by XDELEX with DELREF: their pending rows go as well."
        )
        assert billing.endswith("and loses 2 pending entries (w1 2).")
    else:
        assert first == "4 entries are deleted for all groups, by XDEL."
        assert billing.endswith("and keeps 2 pending rows that point to nothing (w1 2).")
    assert rest == [
        "1 group has read and acknowledged all of them.",
        f"Each is written to {file} before it is deleted.",
    ]
    assert plan.loses.startswith(f"4 entries; `streamops restore {file} --new-ids` adds them again")
    assert plan.warnings[0] == "1 ID is no entry of the stream, and will be left out."
    assert any("will not know the lag of group billing" in one for one in plan.warnings) == (
        server.label != "redis-6.2"
    )
    assert not file.exists()
