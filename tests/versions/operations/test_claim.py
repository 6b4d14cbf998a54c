"""Taking pending entries over, on every server."""

import pytest

from streamops.model.acting import Skipped
from tests.support.operations.claim import STREAM, add_pending_for, claim, rows
from tests.support.operations.doing import done, open_console, planned
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def test_entries_that_are_gone_are_told(server: RunningServer) -> None:
    ids = add_pending_for(server, a=4)
    server.command("XDEL", STREAM, str(ids[1]))
    async with await open_console(server) as console:
        plan = await planned(console, claim())
        outcome = await done(console, claim())
    if server.label == "redis-6.2":
        assert f"No longer in the stream, though pending: {ids[1]};" in plan.effects[-1]
        assert (outcome.applied, outcome.skipped) == (4, ())
        assert str(ids[1]) in outcome.notes[0]
        assert len(rows(server)) == 4
    else:
        assert outcome.applied == 3
        assert outcome.skipped == (
            Skipped(str(ids[1]), "its entry no longer exists: the server removed the row"),
        )
        assert len(rows(server)) == 3
