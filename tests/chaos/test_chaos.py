"""Nothing is lost, whatever fails: random histories, and an audit that knows nothing of how it works.

Every scene is played on one version or another. ``STREAMOPS_HISTORIES`` says how many histories are played on each version
instead, ``STREAMOPS_FIRST_HISTORY`` which is the first; a failure names its seed.
"""

import os
from pathlib import Path

import pytest

from tests.chaos.history import History
from tests.chaos.ledger import read
from tests.chaos.playing import play
from tests.chaos.scenes import ORDER
from tests.chaos.worker import Post
from tests.support.programs import PROGRAMS, ServerProgram
from tests.support.servers import RunningServer

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "0"))
FIRST = int(os.environ.get("STREAMOPS_FIRST_HISTORY", "0"))
SECONDS_EACH = 60


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(120 + SECONDS_EACH * max(2, HISTORIES))
async def test_random_histories(program: ServerProgram, tmp_path: Path) -> None:
    """Each version plays others, so that together they are about every scene."""
    each = len(PROGRAMS)
    last = each * (FIRST + HISTORIES) if HISTORIES else max(each, len(ORDER))
    for seed in range(each * FIRST + PROGRAMS.index(program), last, each):
        directory = tmp_path / str(seed)
        directory.mkdir()
        try:
            await play(program, directory, seed)
        except Exception as error:
            raise AssertionError(f"history {seed} on {program.label}") from error


@pytest.mark.every_server("histories are played on each version")
async def test_whoever_flushes_the_server_stops_nobody(server: RunningServer, tmp_path: Path) -> None:
    async with History(server, tmp_path, Post(concurrency=2, prefetch=5, guarded=False)) as history:
        for _ in range(2):
            await history.join()
        for number in range(20):
            history.publish("slow", f"o{number}")
        await history.until("at work", lambda: read(history.post.ledger))
        async with history.fault("flushed"):
            history.excuse("FLUSHALL", history.published)
            server.flush()
        for number in range(20):
            history.publish(("ok", "fail", "bad", "later")[number % 4], f"p{number}")
        await history.settle()
