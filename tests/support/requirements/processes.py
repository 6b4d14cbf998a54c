"""streamops as people start it: processes with a directory of their own, and signals."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamops.demo.children import module_environment
from tests.support.servers import RunningServer

PATIENCE = 30.0


class Running:
    """A process that goes on until it is told to stop.

    Attributes:
        process: The process.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    @property
    def log(self) -> str:
        """What it has said so far."""
        return self._log.read_text()

    @property
    def children(self) -> set[int]:
        """The processes that it started."""
        pid = self.process.pid
        return {int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def ended(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to stop; its exit code."""
        self.tell(number)
        return self.process.wait(PATIENCE)


class Commands:
    """Command lines in one directory, for one server.

    Attributes:
        directory: Where they run.
    """

    def __init__(self, server: RunningServer, directory: Path) -> None:
        self.directory = directory
        self._server = server

    def write(self, name: str, text: str) -> None:
        """Put a file into the directory."""
        (self.directory / name).write_text(text)

    def lines(self, name: str) -> list[str]:
        """The lines of a file of the directory; none where there is no such file yet."""
        path = self.directory / name
        return path.read_text().splitlines() if path.exists() else []

    def code(self, *words: str) -> int:
        """Run a command line to its end; its exit code."""
        return self._run(words).returncode

    def json(self, *words: str) -> Any:  # noqa: ANN401 - any document
        """Run a command line to its end; what it prints as JSON."""
        done = self._run((*words, "-o", "json"))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def running(self, *words: str) -> Iterator[Running]:
        """Run a command line until it is told to stop; killed at the end where it was not."""
        log = self.directory / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self._words(words), cwd=self.directory, env=self._environ, stdout=output, stderr=output
            )
        try:
            yield Running(process, log)
        finally:
            process.kill()
            process.wait()

    def _run(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._words(words),
            cwd=self.directory,
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    @staticmethod
    def _words(words: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "streamops", *words]

    @property
    def _environ(self) -> dict[str, str]:
        return module_environment() | {
            "STREAMOPS_URL": self._server.unix_url,
            "HOME": str(self.directory),
            "PATH": os.environ["PATH"],
        }


def until(true: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "it never came to be so"
        time.sleep(0.02)
