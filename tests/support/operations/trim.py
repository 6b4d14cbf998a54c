"""Streams to trim."""

from tests.support.servers import RunningServer
from tests.support.streams import add_counting, deliver

STREAM = "orders"


def add_four_hundred_read_in_part(server: RunningServer) -> None:
    """Entries 1-0 to 400-0; ``billing`` holds 201 to 300 of 300, ``audit`` took 350."""
    add_counting(server, STREAM, 1, 400)
    for group in ("billing", "audit"):
        server.command("XGROUP", "CREATE", STREAM, group, "0")
    deliver(server, STREAM, "billing", "w1", 300)
    server.command("XACK", STREAM, "billing", *(f"{number}-0" for number in range(1, 201)))
    deliver(server, STREAM, "audit", "w1", 350, "NOACK")
