"""Shared by the tests of tend."""

import time
from collections.abc import Callable

from tests.support.servers import RunningServer

STREAM, GROUP, LETTERS = "orders", "billing", "{orders}:dlq"


def fill(server: RunningServer) -> None:
    """One entry that is stuck, and one that was delivered five times."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    for number in (1, 2):
        server.command("XADD", STREAM, f"{number}-1", "n", number)
    server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
    server.command("XCLAIM", STREAM, GROUP, "w", 0, "1-1", "IDLE", 90_000, "RETRYCOUNT", 1, "JUSTID")
    server.command("XCLAIM", STREAM, GROUP, "w", 0, "2-1", "IDLE", 90_000, "RETRYCOUNT", 5, "JUSTID")


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def pending(server: RunningServer) -> int:
    return int(server.command("XPENDING", STREAM, GROUP)[0])
