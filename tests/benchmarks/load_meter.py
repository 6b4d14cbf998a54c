"""How long a server was held: by its own log of slow commands, and by what another client felt.

Where the system allows it, server and pinging client run at a real-time priority: what is measured is then what the
server does, and not who else uses the machine.
"""

import multiprocessing
import os
import socket
import time
from contextlib import suppress
from importlib.resources import files
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from streamops.wire import scripts
from streamops.wire.scripts import load_script
from tests.support.servers import RunningServer

LOGGED_US = 500
"""From how long on commands are logged."""
PAUSE = 0.0005
SERVER_PRIORITY, PINGER_PRIORITY = 5, 6


class Held(Struct, frozen=True):
    """How long a server was held while something was done.

    Attributes:
        wall: Seconds that it took altogether.
        longest: The longest single command or script, in milliseconds; none where no one took half a millisecond.
        command: Its first words.
        ping: The longest wait of the other client, in milliseconds.
        commands: How many commands were long enough to be logged.
    """

    wall: float
    longest: float | None
    command: str
    ping: float
    commands: int


class Meter:
    """Measures one server; use as ``with``.

    Attributes:
        real_time: Whether the server runs at a real-time priority.
    """

    def __init__(self, running: RunningServer) -> None:
        self._running = running
        self.real_time = prefer(running.pid, SERVER_PRIORITY)
        running.command("CONFIG", "SET", "slowlog-log-slower-than", LOGGED_US)
        running.command("CONFIG", "SET", "slowlog-max-len", 100_000)
        context = multiprocessing.get_context("spawn")
        self._mine, theirs = context.Pipe()
        self._process = context.Process(target=_ping, args=(str(running.socket_path), theirs), daemon=True)
        self._began = 0.0

    def __enter__(self) -> Self:
        self._process.start()
        self._mine.recv()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._mine.send("over")
        self._process.join()

    def begin(self) -> None:
        """Forget what was."""
        self._running.command("SLOWLOG", "RESET")
        self._wait()
        self._began = time.perf_counter()

    def end(self) -> Held:
        """What there was since."""
        wall = time.perf_counter() - self._began
        ping = self._wait()
        rows = [row for row in self._running.command("SLOWLOG", "GET", -1) if row[3][0] != b"SLOWLOG"]
        slowest = max(rows, key=lambda row: row[2], default=None)
        if slowest is None:
            return Held(wall, None, "", ping, 0)
        return Held(wall, slowest[2] / 1e3, _words(slowest[3]), ping, len(rows))

    def _wait(self) -> float:
        """The longest wait since this was asked last, in milliseconds."""
        self._mine.send("tell")
        waited: float = self._mine.recv()
        return waited * 1e3


def prefer(pid: int, priority: int) -> bool:
    """Run a process before all that are not in a hurry, where this one may say so."""
    with suppress(OSError):
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(priority))
        return True
    return False


def _ping(path: str, asked: Connection) -> None:
    """Ping until told that it is over; tell the longest wait whenever asked."""
    prefer(0, PINGER_PRIORITY)
    longest = 0.0
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(path)
        asked.send("ready")
        while True:
            if asked.poll():
                if asked.recv() == "over":
                    return
                asked.send(longest)
                longest = 0.0
            began = time.perf_counter()
            plain.sendall(b"PING\r\n")
            plain.recv(64)
            longest = max(longest, time.perf_counter() - began)
            time.sleep(PAUSE)


def _words(command: list[bytes]) -> str:
    """A command by its first words; a script by its name, or the first of those that begin alike."""
    text = [part.decode(errors="replace") for part in command[:3]]
    if not text[0].upper().startswith("EVAL"):
        return " ".join(text)[:40]
    found = [f"{name}.lua" for name in _script_names() if _is_script(name, text[1])]
    return (found[0] + ", or one like it" * (len(found) > 1)) if found else text[0]


def _script_names() -> list[str]:
    return sorted(Path(path.name).stem for path in files(scripts).iterdir() if path.name.endswith(".lua"))


def _is_script(name: str, told: str) -> bool:
    """Whether the log tells of this script: by its digest, or by what the log has room for of its source."""
    script = load_script(name)
    return told == script.sha or script.source.startswith(told.partition("... (")[0])
