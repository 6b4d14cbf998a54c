"""No pending entry is ever lost with its consumer, after any history, on every server."""

import os
from random import Random

import pytest

from tests.support.operate.operations.doing import open_console
from tests.support.operate.operations.removal_histories import run_histories
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "20"))


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(900)
async def test_what_is_pending_stays_pending(server: RunningServer) -> None:
    async with await open_console(server, "ann") as ann, await open_console(server, "bob") as bob:
        await run_histories(server, (ann, bob), HISTORIES, Random().randrange(10**9))
