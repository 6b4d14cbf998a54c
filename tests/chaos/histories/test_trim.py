"""A safe trim loses nothing that a group needs, in any history, on every server; and its script cannot be changed unnoticed."""

import asyncio
import os

import pytest

from streamops.operate.operations import trim
from tests.support.operate.trim_truth import NODE_ENTRIES, play
from tests.support.programs import ServerProgram
from tests.support.servers import StartServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "20"))


@pytest.fixture(autouse=True)
def _small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many slices, so that others come between."""
    monkeypatch.setattr(trim, "SMALLEST", NODE_ENTRIES + 1)
    monkeypatch.setattr(trim, "FIRST", 12)
    monkeypatch.setattr(trim, "LARGEST", 24)


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(900)
def test_nothing_that_is_needed_is_lost(program: ServerProgram, start_server: StartServer) -> None:
    running = start_server("--stream-node-max-entries", str(NODE_ENTRIES), program=program)
    removed = sum(asyncio.run(play(running, seed)) for seed in range(HISTORIES))
    assert removed > HISTORIES, "the histories trimmed next to nothing"
