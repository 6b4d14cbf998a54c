"""Whatever step a worker or a publisher crashes at, its work is done by others, and each effect happens once."""

import asyncio
import os

import pytest

from tests.chaos.crashes import Crash, Run
from tests.chaos.worker import SMALL
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

CRASHES = int(os.environ.get("STREAMOPS_HISTORIES", "16"))
SIDE_BY_SIDE = 8


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, sizes in SMALL.items():
        for name, size in sizes.items():
            monkeypatch.setattr(module, name, size)


async def crash(server: RunningServer, seeds: range) -> list[tuple[int, Crash]]:
    """Runs side by side."""
    turns = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(seed: int) -> tuple[int, Crash]:
        async with turns:
            return seed, await Run(server, seed).play()

    return await asyncio.gather(*map(one, seeds))


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(120 + CRASHES)
async def test_nothing_is_lost_and_nothing_done_twice(server: RunningServer) -> None:
    """Each version plays others, so that together they come to every step that matters."""
    first = CRASHES * [program.label for program in find_programs()].index(server.label)
    runs = await crash(server, range(first, first + CRASHES))
    assert [(seed, run.problems) for seed, run in runs if run.problems] == []
    assert any(run.met for _, run in runs)
