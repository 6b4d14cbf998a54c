"""Runs command lines on a terminal of their own."""

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from typing import Final, NamedTuple

from tests.support.project import PROJECT

COLOR: Final = re.compile(r"\x1b\[[0-9;]*m")
PATIENCE: Final = 40.0


class Shown(NamedTuple):
    """What a program wrote to its terminal, and its exit code."""

    code: int
    text: str

    @property
    def plain(self) -> str:
        """The text without colours."""
        return COLOR.sub("", self.text)


class Typing(NamedTuple):
    """Keys to press once the terminal shows a text."""

    after: str
    keys: str


def on_terminal(*args: str, width: int = 80, typing: Typing | None = None, **environment: str) -> Shown:
    """Run a command line until it ends."""
    near, far = pty.openpty()
    ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "STREAMOPS_CONFIG") if name in os.environ}
    root = str(PROJECT)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "streamops", *args],
        stdin=far,
        stdout=far,
        stderr=far,
        env={**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": root, **environment},
    )
    os.close(far)
    try:
        output = _read(near, typing)
        return Shown(process.wait(10), output.decode().replace("\r\n", "\n"))
    finally:
        os.close(near)
        process.kill()
        process.wait()


def _read(near: int, typing: Typing | None) -> bytes:
    """Everything the program writes until it ends, or until patience does."""
    output, end = b"", time.monotonic() + PATIENCE
    while time.monotonic() < end and select.select([near], [], [], PATIENCE)[0]:
        try:
            chunk = os.read(near, 65_536)
        except OSError:  # Linux says so when the last writer has gone
            break
        if not chunk:
            break
        output += chunk
        if typing is not None and typing.after.encode() in output:
            os.write(near, typing.keys.encode())
            typing = None
    return output
