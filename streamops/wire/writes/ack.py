"""Acknowledging by ID."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EPOCH, EntryId
from streamops.wire.faults import Fault
from streamops.wire.node import Reply
from streamops.wire.replies import decode_pending_rows
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server


class Acknowledged(Struct, frozen=True):
    """What was acknowledged.

    Attributes:
        at: When, by the server's clock.
        rows: The rows as they were.
    """

    at: datetime
    rows: tuple[PendingEntry, ...]


async def ack(
    server: Server, stream: str, group: str, ids: Sequence[EntryId], *, position: EntryId | None
) -> Acknowledged | Fault:
    """Acknowledge those that are pending.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        ids: At most a thousand IDs: what one script call does, nobody else can do anything beside.
        position: The group must not stand before it; none asks for the group alone.
    """
    arguments = (group, "" if position is None else str(position), *map(str, ids))
    reply: Acknowledged | Fault = await write_script(server, "ack", Call(stream, arguments, _acknowledged))
    return reply


def _acknowledged(reply: Sequence[Reply]) -> Acknowledged:
    at_ms, rows = reply
    return Acknowledged(EPOCH + timedelta(milliseconds=at_ms), decode_pending_rows(rows))
