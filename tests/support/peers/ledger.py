"""What handlers of peers did, in their own hand: lines appended to a file, which outlive a ``kill -9``."""

import os
import signal
from pathlib import Path

HANG = "hang"
"""A worker in this mode never comes to the end of anything."""


def write(event: str, number: int) -> None:
    """Append a line; one write of an O_APPEND file is never torn."""
    line = f"{event} {number} {os.getpid()}\n".encode()
    handle = os.open(os.environ["LEDGER"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def begin(number: int) -> bool:
    """Say that an entry is being handled; whether to go on. A negative number kills whoever handles it."""
    write("start", number)
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
        signal.pause()
    return os.environ.get("MODE") != HANG


def read(path: Path, event: str) -> list[int]:
    """The numbers of all lines of an event, in their order."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [int(line.split()[1]) for line in lines if line.startswith(f"{event} ")]
