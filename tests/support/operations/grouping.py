"""A stream with groups for tests, and where they stand."""

from typing import Any

from tests.support.servers import RunningServer
from tests.support.streams import add_numbered, deliver

STREAM = "orders"


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
    add_numbered(server, STREAM, 1, entries)
    server.command("XGROUP", "CREATE", STREAM, "g", "0")
    ids = deliver(server, STREAM, "g", "c1", given // 2) + deliver(
        server, STREAM, "g", "c2", given - given // 2
    )
    if acked:
        server.command("XACK", STREAM, "g", *ids[:acked])
