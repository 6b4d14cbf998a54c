"""Whatever step a worker or a publisher crashes at, its work is done by others, and each effect happens once."""

import asyncio
import os
from collections.abc import Sequence

import pytest

from streamops.wire import script_calls
from streamops.wire.consuming.guarding import Claim, Guards
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.scripts import Script, load_script
from tests.chaos.crashes import Crash, Run
from tests.chaos.worker import SMALL
from tests.programs import find_programs
from tests.servers import RunningServer

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


@pytest.mark.timeout(120 + CRASHES)
async def test_nothing_is_lost_and_nothing_done_twice(server: RunningServer) -> None:
    """Each version plays others, so that together they come to every step that matters."""
    first = CRASHES * [program.label for program in find_programs()].index(server.label)
    runs = await crash(server, range(first, first + CRASHES))
    assert [(seed, run.problems) for seed, run in runs if run.problems] == []
    assert any(run.met for _, run in runs)


async def test_a_dead_letter_that_is_not_written_is_found(
    any_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = "redis.pcall('XADD', KEYS[3], '*', unpack(letter.parts))"
    source = load_script("consume_bury").source
    assert source.count(right) == 1
    wrong = Script(source.replace(right, "'written'"), "0" * 40)
    monkeypatch.setattr(
        script_calls, "load_script", lambda name: wrong if name == "consume_bury" else load_script(name)
    )
    problems = [problem for _, run in await crash(any_server, range(6)) for problem in run.problems]
    assert any(problem.startswith("lost: ") for problem in problems)


async def test_a_guard_that_lets_everybody_in_is_found(
    any_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def take(_: Guards, sub: Subscription, claims: Sequence[Claim]) -> list[bytes]:
        assert sub.guarded
        return [claim.origin for claim in claims]

    monkeypatch.setattr(Guards, "take", take)
    problems = [problem for _, run in await crash(any_server, range(6)) for problem in run.problems]
    assert any(problem.startswith("an effect twice: ") for problem in problems)
