"""Replacing the primary that a Sentinel names."""

from tests.support.servers import RunningServer


def replace_primary(sentinel: RunningServer, primary: RunningServer) -> None:
    sentinel.command("SENTINEL", "REMOVE", "orders")
    sentinel.command("SENTINEL", "MONITOR", "orders", "127.0.0.1", primary.port, 1)
