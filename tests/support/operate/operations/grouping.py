"""A stream with groups for tests, and where they stand."""

from typing import Any

from tests.support.servers import RunningServer

STREAM = "orders"


def add(server: RunningServer, first: int, last: int) -> None:
    """Entries ``first``-1 to ``last``-1."""
    pipeline = server.client.pipeline(transaction=False)
    for number in range(first, last + 1):
        pipeline.xadd(STREAM, {"f": "v"}, id=f"{number}-1")
    pipeline.execute()


def read(server: RunningServer, group: str, consumer: str, count: int) -> list[str]:
    """Read with a group; the IDs that it was given."""
    reply = server.command("XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", STREAM, ">")
    return [entry[0].decode() for entry in reply[0][1]] if reply else []


def group_info(server: RunningServer, group: str, stream: str = STREAM) -> dict[str, Any]:
    for flat in server.command("XINFO", "GROUPS", stream):
        info = {flat[at].decode(): flat[at + 1] for at in range(0, len(flat), 2)}
        if info["name"].decode() == group:
            return info
    raise AssertionError(f"no group {group}")


def position(server: RunningServer, group: str) -> str:
    where: str = group_info(server, group)["last-delivered-id"].decode()
    return where


def has_lag(server: RunningServer) -> bool:
    return server.program.version >= (7, 0, 0)


def grouped(server: RunningServer, entries: int = 10, given: int = 6, acked: int = 4) -> None:
    """A group that was given some entries, of which it acknowledged some."""
    add(server, 1, entries)
    server.command("XGROUP", "CREATE", STREAM, "g", "0")
    ids = read(server, "g", "c1", given // 2) + read(server, "g", "c2", given - given // 2)
    if acked:
        server.command("XACK", STREAM, "g", *ids[:acked])
