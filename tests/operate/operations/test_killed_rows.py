"""Operators who are killed at any point leave nothing behind that cannot be gone on with, or taken back."""

import os
from random import Random

import pytest

from tests.operate.killed import Change
from tests.operate.operations.doing import open_console
from tests.operate.operations.killed_rows import History
from tests.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "15"))
MOST_HISTORIES = 150
"""A changed script has to be caught within so many."""

CHANGES = {
    "a claim that keeps nothing": Change(
        "claim", "if not kept then return rows end", "if true then return '' end"
    ),
    "an acknowledgement that keeps nothing": Change(
        "ack", "if not kept then return rows end", "if true then return '' end"
    ),
    "a nack that keeps nothing": Change(
        "nack", "if not kept then return rows end", "if true then return '' end"
    ),
    "a claim that keeps another time": Change(
        "claim", "{now, names, ids, runs}", "{now - 1000, names, ids, runs}"
    ),
    "a claim that keeps rows after it": Change(
        "claim",
        "local told, gone, left, claimed, mine = keep_taken(kept, seconds)",
        "local told, gone, left, claimed, mine = ''",
    ),
}


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


@pytest.mark.timeout(900)
async def test_what_a_killed_operator_did_is_gone_on_with_or_taken_back(server: RunningServer) -> None:
    first = Random().randrange(10**9)
    kills, changed = await play(server, range(first, first + HISTORIES))
    assert kills > HISTORIES // 4
    assert changed > HISTORIES


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_wrong_script_is_caught(change: Change, any_server: RunningServer) -> None:
    with pytest.raises(AssertionError, match="seed"):
        await play(any_server, range(MOST_HISTORIES), change)
