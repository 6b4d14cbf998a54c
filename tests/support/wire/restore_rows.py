"""Rows of a list of pending entries, given back."""

from datetime import timedelta

from streamops.model.entries import EntryId, PendingEntry
from streamops.model.pending import PendingChange
from streamops.wire.reads import read_clock
from streamops.wire.server import Server
from streamops.wire.writes.audit import restore_rows
from tests.support.servers import RunningServer

IDLE = timedelta(minutes=1)


def then(number: int, owner: str, deliveries: int = 1) -> PendingEntry:
    return PendingEntry(EntryId(number, 0), owner, IDLE, deliveries)


async def restored(connected: Server, *rows: PendingEntry, writes: bool = True) -> list[str]:
    at = await read_clock(connected, "orders")
    assert at is not None
    came = await restore_rows(
        connected,
        "orders",
        "g",
        rows,
        done=PendingChange.CLAIMED,
        holder="rescuer",
        at=at,
        position=None,
        writes=writes,
    )
    assert isinstance(came, list)
    return came


def deliver(server: RunningServer, owner: str, *numbers: int) -> None:
    for number in numbers:
        server.command("XADD", "orders", f"{number}-0", "a", "b")
        server.command("XREADGROUP", "GROUP", "g", owner, "STREAMS", "orders", ">")
