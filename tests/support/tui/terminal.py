"""A program on a real pseudo-terminal: what it writes, byte for byte."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

TIMEOUT = 20.0


class Terminal:
    """The far side of a program's terminal.

    Attributes:
        process: The program.
        output: Everything it has written.
    """

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.output = bytearray()
        self._master = master
        self._seen = 0

    def read(self, timeout: float) -> bool:
        """Take what it writes next, if it does within the timeout; say whether it goes on."""
        ready, _, _ = select.select([self._master], [], [], max(timeout, 0))
        if not ready:
            return True
        try:
            read = os.read(self._master, 1 << 16)
        except OSError:  # Linux says so where the program has closed its side
            return False
        self.output += read
        return bool(read)

    def wait_for(self, pattern: bytes) -> None:
        """Read until a pattern has been written after what the last wait found."""
        deadline = time.monotonic() + TIMEOUT
        searched = re.compile(pattern)
        while not (found := searched.search(self.output, self._seen)):
            if not self.read(deadline - time.monotonic()) or time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} was not written; last: {bytes(self.output[-300:])!r}")
        self._seen = found.end()

    def drain(self, seconds: float) -> None:
        """Read on for some time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and self.read(left):
            pass
        self._seen = len(self.output)

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self._master, keys)

    def hang_up(self) -> None:
        """Go away, as a window that is closed does."""
        os.close(self._master)
        self._master = -1

    def close(self) -> None:
        """Close it, unless it went away already."""
        if self._master >= 0:
            self.hang_up()

    def wait(self) -> int:
        """Read until the program has ended; return its exit code."""
        deadline = time.monotonic() + TIMEOUT
        while self.read(0.05) and self.process.poll() is None and time.monotonic() < deadline:
            pass
        return self.process.wait(TIMEOUT)


@contextmanager
def on_a_terminal(
    module: str, *args: str, size: tuple[int, int] = (120, 40), environment: Mapping[str, str] | None = None
) -> Iterator[Terminal]:
    """Run a module of Python on a terminal of so many columns and lines; it is ended on the way out."""
    columns, lines = size
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = _start([sys.executable, "-m", module, *args], slave, environment or {})
    os.close(slave)
    terminal = Terminal(process, master)
    try:
        yield terminal
    finally:
        process.terminate()
        process.wait(TIMEOUT)
        terminal.close()


def _start(command: Sequence[str], slave: int, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    kept |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    return subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=kept, start_new_session=True
    )
