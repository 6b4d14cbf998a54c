"""Streams to trim."""

from tests.support.servers import RunningServer

STREAM = "orders"


def fill(server: RunningServer, count: int, first: int = 1) -> None:
    for number in range(first, first + count):
        server.command("XADD", STREAM, f"{number}-0", "n", number)


def read(server: RunningServer, group: str, count: int, *words: str) -> None:
    server.command("XREADGROUP", "GROUP", group, "w1", "COUNT", count, *words, "STREAMS", STREAM, ">")
