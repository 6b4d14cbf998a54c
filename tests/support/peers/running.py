"""Workers of other libraries, in processes of their own and with the Python of ``make peers``."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.project import PROJECT

ROOT = PROJECT
REQUIRE_PEERS = "STREAMOPS_REQUIRE_PEERS"
"""Set where the peers must be there: then nothing is skipped for the want of them."""


class Peer(NamedTuple):
    """A library.

    Attributes:
        name: Its name.
        work: The words that run one of its workers, after the Python.
        publish: The words that publish; first and last number follow.
    """

    name: str
    work: tuple[str, ...]
    publish: tuple[str, ...]


FASTSTREAM = Peer(
    "FastStream",
    ("-m", "tests.support.peers.faststream_worker", "work"),
    ("-m", "tests.support.peers.faststream_worker", "publish"),
)
TASKIQ = Peer(
    "taskiq",
    (
        "-m",
        "taskiq",
        "worker",
        "tests.support.peers.taskiq_worker:broker",
        "--workers",
        "1",
        "--max-async-tasks",
        "4",
    ),
    ("-m", "tests.support.peers.taskiq_worker", "publish"),
)


def peers_python(environment: str = "peers") -> Path | None:
    """The Python of an environment of peers; none where it is not installed.

    Raises:
        RuntimeError: It is not, and has to be.
    """
    python = ROOT / f".venv-{environment}" / "bin" / "python"
    if python.exists() and python.parents[1].joinpath(".installed").exists():
        return python
    if os.environ.get(REQUIRE_PEERS):
        raise RuntimeError(f"{REQUIRE_PEERS} is set, and {python} is not there: run `make peers`")
    return None


class Workshop:
    """Where workers of one library work on one stream.

    Attributes:
        ledger: The file in which its handlers account for what they do.
        log: The file in which they and the library say anything else.
    """

    def __init__(self, python: Path, peer: Peer, *, url: str, stream: str, group: str, ledger: Path) -> None:
        self.ledger = ledger
        self.log = ledger.with_suffix(".log")
        self._python = str(python)
        self._peer = peer
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))},
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "URL": url,
            "STREAM": stream,
            "GROUP": group,
            "LEDGER": str(ledger),
        }
        self._running: list[subprocess.Popen[bytes]] = []

    def publish(self, first: int, last: int) -> None:
        """Publish numbers from the first one on and before the last one."""
        self._spawn((*self._peer.publish, str(first), str(last))).wait(30)

    def start(self, mode: str = "") -> "subprocess.Popen[bytes]":
        """Start a worker, in a session of its own."""
        return self._spawn(self._peer.work, MODE=mode)

    def kill(self, worker: "subprocess.Popen[bytes]") -> None:
        """End a worker, and whatever it started, without a farewell."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(10)

    def stop(self) -> None:
        """End all that still run."""
        for worker in self._running:
            if worker.poll() is None:
                self.kill(worker)

    def _spawn(self, words: Sequence[str], **more: str) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [self._python, *words],
                env=self._environment | more,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append(process)
        return process
