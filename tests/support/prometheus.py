"""Running Debian's Prometheus and its companions for a test.

Each listens on a loopback port that the kernel chose, keeps its files in a directory of its own, and ends with the
tests however they end: the demo's guard watches it.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
import yaml

from streamops.service.processes import module_command, module_environment
from tests.support.servers import choose_port

REQUIRE_PROMETHEUS: Final = "STREAMOPS_REQUIRE_PROMETHEUS"
_START_ATTEMPTS: Final = 5
_START_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 10.0


def find_program(name: str) -> str:
    """Where a program is; the test is skipped where it is not, unless the environment requires it."""
    found = shutil.which(name)
    if found is None and os.environ.get(REQUIRE_PROMETHEUS) == "1":
        pytest.fail(f"{name} is not installed, and {REQUIRE_PROMETHEUS} asks for it")
    return found or pytest.skip(f"{name} is not installed")


def run_program(name: str, *args: str | Path) -> subprocess.CompletedProcess[str]:
    """Run one of the tools to its end."""
    return subprocess.run(
        [find_program(name), *args], capture_output=True, text=True, timeout=60, check=False
    )


def assert_clean(page: str | bytes) -> None:
    """Have promtool look at a page of metrics: it parses, and names follow Prometheus's conventions."""
    body = page.encode() if isinstance(page, str) else page
    words = [find_program("promtool"), "check", "metrics"]
    done = subprocess.run(words, input=body, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def fetch(url: str, **changes: Any) -> bytes:
    """What a GET of a loopback URL answers; ``OSError`` where nothing does."""
    with urlopen(Request(url, **changes), timeout=_ANSWER_SECONDS) as answer:  # noqa: S310 - loopback alone
        body: bytes = answer.read()
    return body


class RunningProgram:
    """One process that serves HTTP on a port; ``with`` stops it.

    Attributes:
        directory: Its own directory, removed when it stops.
        port: Its loopback port.
    """

    def __init__(
        self,
        command: Callable[[Path, int], Sequence[str]],
        ready: str,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Start it and wait until ``ready`` answers.

        Args:
            command: Its command line, of its directory and the port to listen on.
            ready: A path that answers once it is at work.
            environ: Variables that are not this process's.
        """
        for _ in range(_START_ATTEMPTS):
            self.directory = Path(tempfile.mkdtemp(prefix="streamops-test-"))
            self.port = choose_port()
            with tempfile.TemporaryFile() as log:
                self._guard = self._spawn(command(self.directory, self.port), environ or {}, log)
                if self._is_up(ready):
                    return
                # Another process may have been given the port in between.
                self.stop()
                log.seek(0)
                words = log.read().decode(errors="replace")
        pytest.fail(f"did not start in {_START_ATTEMPTS} attempts: {words[-2000:]}")

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def guard_pid(self) -> int:
        """The process that watches over it, and is its parent."""
        return self._guard.pid

    def get(self, path: str, **parameters: str) -> Any:  # noqa: ANN401 - any JSON
        """What it answers, as JSON."""
        return json.loads(fetch(f"{self.url}{path}?{urlencode(parameters)}"))

    def stop(self) -> None:
        """End it and remove its directory; twice is harmless."""
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        try:
            self._guard.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(
        self, command: Sequence[str], environ: Mapping[str, str], log: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            module_command("streamops.demo.watchdog", str(self.directory), *command),
            env={**module_environment(), **environ},
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _is_up(self, ready: str) -> bool:
        deadline = time.monotonic() + _START_SECONDS
        while self._guard.poll() is None and time.monotonic() < deadline:
            try:
                fetch(f"{self.url}{ready}")
            except (URLError, OSError):
                time.sleep(0.05)
            else:
                return True
        return False


class RunningPrometheus(RunningProgram):
    """A Prometheus with a configuration, and flags, of the test's."""

    def __init__(self, config: Mapping[str, Any], *flags: str) -> None:
        program = find_program("prometheus")

        def command(directory: Path, port: int) -> list[str]:
            (directory / "prometheus.yml").write_text(yaml.safe_dump(dict(config)))
            return [
                program,
                f"--config.file={directory / 'prometheus.yml'}",
                f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=warn",
                *flags,
            ]

        super().__init__(command, "/-/ready")

    def query(self, expression: str) -> list[dict[str, Any]]:
        """What an expression comes to now: samples, each with ``metric`` and ``value``."""
        rows: list[dict[str, Any]] = self.get("/api/v1/query", query=expression)["data"]["result"]
        return rows

    def firing(self) -> set[str]:
        """Names of the alerts that fire."""
        alerts = self.get("/api/v1/alerts")["data"]["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


class RunningAlertmanager(RunningProgram):
    """An Alertmanager with a configuration of the test's."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        program = find_program("prometheus-alertmanager")

        def command(directory: Path, port: int) -> list[str]:
            (directory / "alertmanager.yml").write_text(yaml.safe_dump(dict(config)))
            return [
                program,
                f"--config.file={directory / 'alertmanager.yml'}",
                f"--storage.path={directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--cluster.listen-address=",
                "--log.level=warn",
            ]

        super().__init__(command, "/-/ready")
