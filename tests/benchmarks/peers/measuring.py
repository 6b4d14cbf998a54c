"""Measuring a contender: its workers up and waiting, held still while there is nothing to lose, then let go.

A worker is up once it has handled an entry. Workers are stopped (SIGSTOP) while entries are added, so that all of
them are there when the time begins, which is when the workers are let go; it ends when the server says that nothing
is left to read or to acknowledge. Where that takes longer than reads are waited for, libraries lose the reply that
came meanwhile, and what it held: entries of streams are written to a spare stream first, by the library itself, and
copied from there in the server while the workers are stopped.
"""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.peers.contenders import GROUP, STREAM, Contender
from tests.support.servers import RunningServer

ROOT = Path(__file__).parents[3]
PATIENCE = 120.0
POLL = 0.002
SPARE = "spare"
TEMPLATES = 2_000
"""So many entries are written by the library, and copied as often as it takes."""

COPIES = 20_000
COPY = """
local entries = redis.call('XRANGE', KEYS[1], '-', '+')
for at = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  redis.call('XADD', KEYS[2], '*', unpack(entries[at % #entries + 1][2]))
end
"""


class Drain(NamedTuple):
    """What draining came to.

    Attributes:
        rate: Entries a second.
        cpu: Microseconds of the workers' processor time an entry.
        memory: Megabytes of the first worker (PSS).
        seconds: How long it took.
    """

    rate: float
    cpu: float
    memory: float
    seconds: float


class Latency(NamedTuple):
    """Milliseconds from before sending to the handler."""

    p50: float
    p99: float


class Bench:
    """One contender on one server."""

    def __init__(self, server: RunningServer, contender: Contender, **more: object) -> None:
        self._server = server
        self._contender = contender
        self._place = Path(tempfile.mkdtemp())
        self._up = self._place / "up"
        self._up.mkdir()
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            "PYTHONDONTWRITEBYTECODE": "1",
            **{name: str(value) for name, value in (dict(contender.more) | more).items()},
            "PYTHONPATH": str(ROOT),
            "URL": server.url,
            "GROUP": GROUP,
            "UP": str(self._up),
            "RESULT": str(self._place / "result"),
        }

    def drain(self, workers: int, entries: int) -> Drain:
        """Drain entries that are all there when the workers are let go."""
        with self._workers(workers) as running:
            if self._contender.shared:
                self._write_spare(entries)
                self._hold(running)
                self._copy(entries)
            else:
                self._hold(running)
                self._tell("fill", entries)
            assert self.left() >= entries - workers, f"{self._contender.name}: {self.left()} of {entries}"
            before = sum(map(_cpu, running))
            began = time.perf_counter()
            for one in running:
                os.killpg(one.pid, signal.SIGCONT)
            self._wait(lambda: self.left() == 0, "draining")
            took = time.perf_counter() - began
            spent = sum(map(_cpu, running)) - before
            return Drain(entries / took, spent / entries * 1e6, _pss(running[0]), took)

    def latency(self, count: int, rate: int) -> Latency:
        """The time that entries at a steady rate are under way."""
        self._environment["EXPECT"] = str(count)
        with self._workers(1):
            self._tell("pace", count, rate)
            result = self._place / "result"
            self._wait(lambda: result.exists() and bool(result.read_text()), "the last of them")
        taken = sorted(json.loads(result.read_text()))
        return Latency(taken[len(taken) // 2] / 1e6, taken[len(taken) * 99 // 100] / 1e6)

    def left(self) -> int:
        """Entries that are yet to be read or acknowledged."""
        return self._contender.left(self._server)

    @contextmanager
    def _workers(self, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
        """Workers that have handled something each."""
        self._server.flush()
        if self._contender.shared:
            self._server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        running = [self._spawn("work") for _ in range(count)]
        try:
            deadline = time.monotonic() + PATIENCE
            while len(list(self._up.iterdir())) < count:
                self._tell("fill", 4 * count)
                self._wait(lambda: self.left() == 0, "the first entries")
                assert time.monotonic() < deadline, f"{self._contender.name}: not all workers get any"
            yield running
        finally:
            for one in running:
                os.killpg(one.pid, signal.SIGKILL)
                one.wait()

    def _write_spare(self, entries: int) -> None:
        """Entries in the library's own envelope; each is another one where they are guarded."""
        guarded = "GUARD" in self._environment
        self._tell("fill", entries if guarded else min(entries, TEMPLATES), stream=SPARE)

    def _copy(self, entries: int) -> None:
        for first in range(0, entries, COPIES):
            last = min(first + COPIES, entries) - 1
            self._server.command("EVAL", COPY, 2, SPARE, STREAM, first, last)

    def _hold(self, running: list[subprocess.Popen[bytes]]) -> None:
        time.sleep(0.3)
        for one in running:
            os.killpg(one.pid, signal.SIGSTOP)

    def _tell(self, *words: object, stream: str = STREAM) -> None:
        sender = self._spawn(*words, stream=stream)
        assert sender.wait(PATIENCE) == 0, (self._place / "log").read_text()

    def _spawn(self, *words: object, stream: str = STREAM) -> "subprocess.Popen[bytes]":
        with (self._place / "log").open("ab") as log:
            return subprocess.Popen(
                [str(self._contender.python), "-m", self._contender.driver, *map(str, words)],
                env=self._environment | {"STREAM": stream},
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"{self._contender.name}: {what}\n{(self._place / 'log').read_text()[-2000:]}"
                )
            time.sleep(POLL)


def _cpu(process: "subprocess.Popen[bytes]") -> float:
    """Seconds of processor time of a process."""
    told = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def _pss(process: "subprocess.Popen[bytes]") -> float:
    """Megabytes of memory of a process, what it shares with others by its share."""
    for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
