"""Entries to delete, and those that are left."""

from streamops.model.entries import EntryId
from tests.support.servers import RunningServer
from tests.support.streams import deliver

STREAM = "orders"
NONE = EntryId(77, 7)


def ids(*numbers: int) -> tuple[EntryId, ...]:
    return tuple(EntryId(number, 0) for number in numbers)


def add_ten_read_in_part(server: RunningServer) -> None:
    """Ten entries; ``billing`` holds 3 and 4 of the first five, ``audit`` took all."""
    for number in range(1, 11):
        server.command("XADD", STREAM, f"{number}-0", "n", number, b"raw", b"\xff", "n", "again")
    for group, count in (("billing", 5), ("audit", 10)):
        server.command("XGROUP", "CREATE", STREAM, group, "0")
        deliver(server, STREAM, group, "w1", count)
    server.command("XACK", STREAM, "billing", "1-0", "2-0", "5-0")
    server.command("XACK", STREAM, "audit", *(f"{number}-0" for number in range(1, 11)))
