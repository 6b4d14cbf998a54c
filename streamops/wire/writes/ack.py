"""Acknowledging by ID."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EPOCH, EntryId
from streamops.wire.faults import Fault
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name, decode_pending_rows
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server


class LeftAlone(Struct, frozen=True):
    """An entry that was not acknowledged.

    Attributes:
        id: Its ID.
        why: ``gone``, ``owner`` where it is somebody else's, or ``delivered`` where it was delivered again.
        owner: Whose it is now; empty where it is gone.
    """

    id: str
    why: str
    owner: str


class Acknowledged(Struct, frozen=True):
    """What came of acknowledging.

    Attributes:
        at: When, by the server's clock.
        rows: The rows that were acknowledged, as they were.
        alone: Those that were left alone.
    """

    at: datetime
    rows: tuple[PendingEntry, ...]
    alone: tuple[LeftAlone, ...]


async def ack(
    server: Server, stream: str, group: str, rows: Sequence[PendingEntry], *, position: EntryId | None
) -> Acknowledged | Fault:
    """Acknowledge those that have the same owner and were not delivered again.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        rows: At most a thousand rows as the plan saw them: what one script call does, nobody else can do anything beside.
        position: The group must not stand before it; none asks for the group alone.
    """
    arguments = [group, "" if position is None else str(position)]
    for row in rows:
        arguments += (str(row.id), row.consumer, str(row.delivery_count))
    reply: Acknowledged | Fault = await write_script(
        server, "ack", Call(stream, tuple(arguments), _acknowledged)
    )
    return reply


def _acknowledged(reply: Sequence[Reply]) -> Acknowledged:
    at_ms, rows, *alone = reply
    return Acknowledged(
        EPOCH + timedelta(milliseconds=at_ms),
        decode_pending_rows(rows),
        tuple(
            LeftAlone(one.decode(), why.decode(), decode_name(owner))
            for one, why, owner in zip(*alone, strict=True)
        ),
    )
