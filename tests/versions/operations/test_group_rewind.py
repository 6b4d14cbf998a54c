"""Rewinding groups on real servers."""

import pytest

from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.undo.intent import UndoIntent
from tests.support.operations.doing import done, planned
from tests.support.operations.grouping import STREAM, group_info, grouped, has_lag, position
from tests.support.servers import RunningServer
from tests.support.streams import deliver

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def test_rewinding_can_be_undone(server: RunningServer, console: Console) -> None:
    grouped(server)
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_start=True))
    deliver(server, STREAM, "g", "c3", 2)
    undo = UndoIntent(audit_id=EntryId.parse(outcome.audit_id))
    plan = await planned(console, undo)
    assert (plan.operation, plan.count) == ("groups.rewind", 4)
    await done(console, undo)
    assert position(server, "g") == "6-1"
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 4
    # Forward: what was skipped is given after all, and what was read since once more.
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", to_id=EntryId(8, 1)))
    deliver(server, STREAM, "g", "c3", 1)
    assert (await done(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))).applied == 3
    assert position(server, "g") == "6-1"
    if has_lag(server):
        assert group_info(server, "g")["lag"] == 4
    # Once it has passed its former position by itself, there is nothing to take back.
    outcome = await done(console, RewindGroupIntent(stream=STREAM, group="g", back=1))
    deliver(server, STREAM, "g", "c3", 3)
    assert (await planned(console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id)))).count == 0
