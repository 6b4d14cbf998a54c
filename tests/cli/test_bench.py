"""``bench`` as a process: it measures, it drills, and leaves nothing, however it is ended."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamops.demo.children import module_environment
from tests.cli.running import Cli
from tests.house.test_imports import imported, top_level
from tests.runtime.working import keys
from tests.servers import RunningServer


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


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


def test_without_a_name_everything_is_measured(cli: Cli, any_server: RunningServer) -> None:
    options = ("--entries", "50", "--rate", "1000", "--yes", "-o", "json")
    result = cli("--url", any_server.url, "bench", *options)
    assert result.code == 0
    document = json.loads(result.out)
    assert document["schema"] == "streamops.bench/1"
    assert len(document["figures"]) == 6
    assert "{streamops-bench:" in result.err
    assert keys(any_server) == set()


def test_a_drill_prints_its_timeline_and_passes(cli: Cli, any_server: RunningServer) -> None:
    options = ("--events", "200", "--work", "1ms-2ms", "--workers", "1", "--no-stop-half", "--yes")
    result = cli("--url", any_server.url, "bench", "drill", *options)
    assert result.code == 0
    assert result.out.split()[:4] == ["AT", "LAG", "PENDING", "RETRYING"]
    assert "200 events = 198 handled + 2 dead letters" in result.out
    assert result.out.endswith("passed\n")
    assert keys(any_server) == set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_whoever_ends_it_finds_nothing_left(
    any_server: RunningServer, tmp_path: Path, number: signal.Signals
) -> None:
    with started(any_server, tmp_path, "drill") as process:
        until(lambda: any(key.endswith(":handled") for key in keys(any_server)))
        workers = children(process)
        process.send_signal(number)
        assert process.wait(20) == 130
    assert (tmp_path / "log").read_text().endswith("interrupted\n")
    assert keys(any_server) == set()
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_whoever_kills_it_finds_nothing_for_long(any_server: RunningServer, tmp_path: Path) -> None:
    """Its workers drain without it, and what they write on the way goes by itself too."""
    with started(any_server, tmp_path, "drill", "--errors", "10") as process:
        until(lambda: any(key.endswith(":dlq") for key in keys(any_server)))
        workers = children(process)
        process.kill()
        process.wait(20)
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert keys(any_server)
    assert all(0 < any_server.command("TTL", key) <= 120 for key in keys(any_server))


@pytest.mark.parametrize("words", [("bench", "all"), ("bench", "drill")], ids=" ".join)
def test_help_imports_neither_the_runtime_nor_a_client(words: tuple[str, ...]) -> None:
    code, modules = imported(*words, "--help")
    assert code == 0
    assert not top_level(modules) & {"redis", "rich", "uvloop", "structlog", "aiohttp", "asyncio"}
    assert not {module for module in modules if module.startswith("streamops.runtime")}


def test_nothing_that_cannot_be_connected_to_is_measured(cli: Cli) -> None:
    result = cli("--url", "redis://127.0.0.1:1/0", "bench", "produce", "--yes")
    assert result.code == 3
    assert "error: " in result.err
    assert "Traceback" not in result.err
