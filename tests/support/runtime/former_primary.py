"""Two primaries, of which a Sentinel names first the one and then the other."""

from tests.support.servers import RunningServer, StartServer

SAME = "1-1"
"""The ID that both primaries give to an entry."""


def replace_primary(sentinel: RunningServer, primary: RunningServer) -> None:
    sentinel.command("SENTINEL", "REMOVE", "orders")
    sentinel.command("SENTINEL", "MONITOR", "orders", "127.0.0.1", primary.port, 1)


def two_primaries(start_server: StartServer) -> tuple[RunningServer, RunningServer]:
    """A primary with an entry that waits, and one that is to replace it; both have the group."""
    former, primary = start_server(), start_server()
    for server in (former, primary):
        server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    add_named(former, SAME, "former")
    return former, primary


def add_named(server: RunningServer, entry_id: str, name: str) -> None:
    server.command("XADD", "s", entry_id, "name", name)


def owners(server: RunningServer) -> list[bytes]:
    return [row[0] for row in server.command("XPENDING", "s", "g", "-", "+", 10)]
