"""Restoring, stopped and begun again, by one or by two: each entry once."""

import asyncio
import subprocess
from functools import partial
from pathlib import Path

import pytest

from streamops.service.processes import module_command
from tests.support.eventually import eventually
from tests.support.operations.restoring import STREAM, values, written
from tests.support.servers import RunningServer


@pytest.mark.parametrize("words", [[], ["--new-ids"]], ids=["own IDs", "new IDs"])
def test_killed_at_any_point_nothing_is_lost_and_nothing_twice(
    server: RunningServer, tmp_path: Path, words: list[str]
) -> None:
    path = written(tmp_path / "f", 20_000)
    command = module_command("streamops", "--url", server.url, "restore", path, "--yes", *words)
    for done_at in (1, 9_000):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            asyncio.run(eventually(partial(has_entries, server, done_at, process)))
            process.kill()
        assert server.command("XLEN", STREAM) < 20_000
    subprocess.run(command, capture_output=True, check=True)
    assert values(server) == list(range(1, 20_001))


def has_entries(server: RunningServer, count: int, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, process.communicate()
    return bool(server.command("XLEN", STREAM) >= count)
