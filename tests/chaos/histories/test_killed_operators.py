"""Operators who are killed at any point leave nothing behind that cannot be gone on with, or taken back."""

import os
from random import Random

import pytest

from tests.support.operate.killed import Change
from tests.support.operate.operations.doing import open_console
from tests.support.operate.operations.killed_rows import History
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "15"))


async def play(server: RunningServer, seeds: range, change: Change | None = None) -> tuple[int, int]:
    """Histories; how many operators were killed in them, and how many rows they had changed."""
    kills = changed = 0
    async with await open_console(server, "eve") as console:
        for seed in seeds:
            history = History(server, console, seed, change)
            try:
                await history.run()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from None
            kills += history.kills
            changed += history.changed
    return kills, changed


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(900)
async def test_what_a_killed_operator_did_is_gone_on_with_or_taken_back(server: RunningServer) -> None:
    first = Random().randrange(10**9)
    kills, changed = await play(server, range(first, first + HISTORIES))
    assert kills > HISTORIES // 4
    assert changed > HISTORIES
