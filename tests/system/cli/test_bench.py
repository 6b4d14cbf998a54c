"""``bench`` as a process: it measures, it drills, and leaves nothing, however it is ended."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamops.process.children import module_environment
from tests.support.eventually import wait_until
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer


@contextmanager
def started(server: RunningServer, directory: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    line = [sys.executable, "-m", "streamops", "--url", server.unix_url, "bench", *words, "--yes"]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(line, cwd=directory, env=module_environment(), stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def children(process: subprocess.Popen[bytes]) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_whoever_ends_it_finds_nothing_left(
    server: RunningServer, tmp_path: Path, number: signal.Signals
) -> None:
    with started(server, tmp_path, "drill") as process:
        wait_until(lambda: any(key.endswith(":handled") for key in keys(server)))
        workers = children(process)
        process.send_signal(number)
        assert process.wait(20) == 130
    assert (tmp_path / "log").read_text().endswith("interrupted\n")
    assert keys(server) == set()
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_whoever_kills_it_finds_nothing_for_long(server: RunningServer, tmp_path: Path) -> None:
    """Its workers drain without it, and what they write on the way goes by itself too."""
    with started(server, tmp_path, "drill", "--errors", "10") as process:
        wait_until(lambda: any(key.endswith(":dlq") for key in keys(server)))
        workers = children(process)
        process.kill()
        process.wait(20)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert keys(server)
    assert all(0 < server.command("TTL", key) <= 120 for key in keys(server))
