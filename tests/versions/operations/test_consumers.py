"""Removing consumers on real servers: what they had pending is never lost."""

import pytest

from streamops.model.acting import Skipped
from streamops.operations.console import Console
from tests.support.operations.consumers import STREAM, consumers, removal, stock
from tests.support.operations.doing import done
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def test_rows_of_deleted_entries_are_told(server: RunningServer, console: Console) -> None:
    stock(server, 4, dead=4)
    server.command("XDEL", STREAM, "2-1")
    outcome = await done(console, removal(to="heir"))
    if server.program.version < (7, 0, 0):
        # Redis 6.2 keeps such rows.
        assert (outcome.applied, outcome.skipped) == (4, ())
    else:
        gone = Skipped("2-1", "its entry no longer exists; the server removed its row")
        assert (outcome.applied, outcome.skipped) == (3, (gone,))
    assert consumers(server) == {"heir"}
