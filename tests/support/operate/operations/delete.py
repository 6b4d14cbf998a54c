"""Entries to delete, and those that are left."""

from streamops.model.ids import EntryId
from tests.support.servers import RunningServer

STREAM = "orders"
NONE = EntryId(77, 7)


def ids(*numbers: int) -> tuple[EntryId, ...]:
    return tuple(EntryId(number, 0) for number in numbers)


def left(server: RunningServer) -> list[int]:
    return [int(row[0].split(b"-")[0]) for row in server.command("XRANGE", STREAM, "-", "+")]
