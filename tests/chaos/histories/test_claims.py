"""No row moves that should not, and none is lost, in any history of claims, nacks and their undoing."""

import os
from random import Random

import pytest

from tests.support.operate.operations.claim_histories import run_histories
from tests.support.operate.operations.doing import open_console
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "30"))


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(900)
async def test_only_what_should_moves(server: RunningServer) -> None:
    async with await open_console(server, "ann") as ann, await open_console(server, "bob") as bob:
        moved = await run_histories(server, (ann, bob), HISTORIES, Random().randrange(10**9))
    assert moved > HISTORIES // 4
