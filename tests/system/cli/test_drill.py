"""``drill`` as a process: it prints its timeline, and leaves nothing, however it is ended."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamops.service.processes import module_environment
from tests.support.cli.running import Cli
from tests.support.eventually import wait_until
from tests.support.runtime.working import keys
from tests.support.servers import RunningServer


@contextmanager
def started(server: RunningServer, directory: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    line = [sys.executable, "-m", "streamops", "--url", server.unix_url, "drill", *words, "--yes"]
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
    with started(server, tmp_path) as process:
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
    with started(server, tmp_path, "--errors", "10") as process:
        wait_until(lambda: any(key.endswith(":dlq") for key in keys(server)))
        workers = children(process)
        process.kill()
        process.wait(20)
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert keys(server)
    assert all(0 < server.command("TTL", key) <= 120 for key in keys(server))


def test_drill_prints_its_timeline_and_passes(cli: Cli, server: RunningServer) -> None:
    options = ("--events", "200", "--work", "1ms-2ms", "--workers", "1", "--yes")
    result = cli("--url", server.url, "drill", *options)
    assert result.code == 0
    assert result.out.split()[:4] == ["AT", "LAG", "PENDING", "RETRYING"]
    assert "200 events = 198 handled + 2 dead letters" in result.out
    assert result.out.endswith("passed\n")
    assert keys(server) == set()


def test_drill_of_a_range_of_workers_prints_the_decisions_of_a_controller(
    cli: Cli, server: RunningServer
) -> None:
    options = ("--events", "200", "--work", "1ms-2ms", "--workers", "1-2", "--yes", "-o", "json")
    killed = "drill-0a1b2c3d"
    server.command("HSET", "streamops:pools", killed, "controller")
    server.command("HSET", f"streamops:pool:{killed}", "ordered", "4")
    result = cli("--url", server.url, "drill", *options)
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["schema"] == "streamops.drill/1"
    assert document["workers"] == [1, 2]
    assert document["decisions"][0]["code"] == "warmup"
    assert keys(server) <= {"streamops:audit"}


def test_drill_of_a_server_that_is_not_there_is_refused(cli: Cli) -> None:
    result = cli("--url", "redis://127.0.0.1:1/0", "drill", "--yes")
    assert result.code == 3
    assert "error: " in result.err
    assert "Traceback" not in result.err
