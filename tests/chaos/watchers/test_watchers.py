"""Exporter, consoles and controllers watch a server that fails: no number is wrong, and all recover by themselves.

``STREAMOPS_HISTORIES`` says how many histories are played on each version beyond the short one, ``STREAMOPS_FIRST_HISTORY``
which is the first; a failure names its seed.
"""

import os
from collections.abc import Sequence
from random import Random
from zlib import crc32

import pytest

from tests.chaos.watchers.faults import GENTLE, ROUGH, SHORT, RunningOperation
from tests.chaos.watchers.scenario import Watched, play
from tests.support.programs import PROGRAMS, ServerProgram

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "0"))
FIRST = int(os.environ.get("STREAMOPS_FIRST_HISTORY", "0"))
FAULTS_EACH = 8
SECONDS_EACH = 240


def share_of(program: ServerProgram, deeds: Sequence[RunningOperation]) -> Sequence[RunningOperation]:
    """What one version is to bear of these faults, each of which strikes one version or another."""
    return deeds[PROGRAMS.index(program) :: len(PROGRAMS)]


async def watch(
    program: ServerProgram, seed: int, faults: Sequence[RunningOperation], *, promptly: bool = False
) -> Watched:
    try:
        watched = await play(program, seed, faults, promptly=promptly)
    except Exception as error:
        told = ", ".join(deed.__name__ for deed in faults)
        raise AssertionError(f"history {seed} on {program.label} of {told}") from error
    assert [one.kind for one in watched.struck] == [deed.__name__ for deed in faults]
    assert all(watched.judged[name] for name in ("exporter", "console", "screen")), watched
    return watched


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(SECONDS_EACH)
async def test_a_few_faults_on_each_version(program: ServerProgram) -> None:
    await watch(program, 1, share_of(program, SHORT))


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.skipif(not HISTORIES, reason="STREAMOPS_HISTORIES says how many")
@pytest.mark.timeout(60 + 2 * SECONDS_EACH * HISTORIES)
async def test_random_histories(program: ServerProgram) -> None:
    for number in range(FIRST, FIRST + HISTORIES):
        # Each version plays others.
        seed = crc32(program.label.encode()) + number
        # Every other one takes nothing away: counters must tell all that was done.
        deeds = GENTLE if number % 2 else (*GENTLE, *ROUGH)
        await watch(program, seed, Random(seed).sample(deeds, FAULTS_EACH), promptly=True)
