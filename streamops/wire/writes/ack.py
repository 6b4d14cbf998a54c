"""Acknowledging by ID."""

from collections.abc import Sequence

from msgspec import Struct

from streamops.model.entries import EntryId, PendingEntry
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, optional, write_script
from streamops.wire.server import Server


class NotAcknowledged(Struct, frozen=True):
    """An entry that was not acknowledged.

    Attributes:
        id: Its ID.
        why: ``gone``, ``owner`` where it is another consumer's, or ``delivered`` where it was delivered again.
        owner: Whose it is now; empty where it is gone.
    """

    id: str
    why: str
    owner: str


class AckReply(Struct, frozen=True):
    """What came of acknowledging.

    Attributes:
        count: How many.
        alone: Those that were left alone.
    """

    count: int
    alone: tuple[NotAcknowledged, ...]


async def ack(
    server: Server,
    stream: str,
    group: str,
    rows: Sequence[PendingEntry],
    *,
    position: EntryId | None,
) -> AckReply:
    """Acknowledge those that have the same owner and were not delivered again.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        rows: At most a thousand rows as the plan saw them: what one script call does, no other client can interrupt.
        position: The group must not stand before it; none asks for the group alone.
    """
    arguments = [group, optional(position)]
    for row in rows:
        arguments += (str(row.id), row.consumer, str(row.delivery_count))
    call = Call(stream, tuple(arguments), _acknowledged)
    return await write_script(server, "ack", call, f"group {stream}/{group}")


def _acknowledged(reply: Sequence[Reply]) -> AckReply:
    count, *alone = reply
    return AckReply(
        count,
        tuple(
            NotAcknowledged(one.decode(), why.decode(), decode_name(owner))
            for one, why, owner in zip(*alone, strict=True)
        ),
    )
