"""Streams to trim."""

from tests.support.servers import RunningServer

STREAM = "orders"


def fill(server: RunningServer, count: int, first: int = 1) -> None:
    server.commands(("XADD", STREAM, f"{number}-0", "n", number) for number in range(first, first + count))
