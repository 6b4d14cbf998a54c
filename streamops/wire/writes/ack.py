"""Acknowledging by ID."""

from collections.abc import Sequence

from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.wire.faults import Fault
from streamops.wire.replies import decode_pending_rows
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server


async def ack(
    server: Server, stream: str, group: str, ids: Sequence[EntryId], *, position: EntryId | None
) -> tuple[PendingEntry, ...] | Fault:
    """Acknowledge those that are pending; their rows as they were.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        ids: At most a thousand IDs: what one script call does, nobody else can do anything beside.
        position: The group must not stand before it; none asks for the group alone.
    """
    arguments = (group, "" if position is None else str(position), *map(str, ids))
    reply: tuple[PendingEntry, ...] | Fault = await write_script(
        server, "ack", Call(stream, arguments, decode_pending_rows)
    )
    return reply
