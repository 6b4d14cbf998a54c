"""Pending entries: acknowledging them, giving them back, and noting those that were never handled."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from msgspec import Struct

from streamops.model.entries import GIVEN_BACK, EntryId, PendingEntry
from streamops.wire.faults import Fault
from streamops.wire.node import Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, optional, try_script, write_script
from streamops.wire.server import Server
from streamops.wire.writes.undo_snapshots import SECONDS_KEPT


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


class GivenBack(Struct, frozen=True):
    """What came of giving entries back.

    Attributes:
        count: How many.
        rows: They as they were, packed, where nothing keeps them beside the stream.
        alone: IDs left alone, each with why: ``gone``, ``owner``, ``idle`` where it looks given back already, or
            ``missing`` where the entry is gone.
    """

    count: int
    rows: bytes
    alone: tuple[tuple[str, str], ...]


async def nack(
    server: Server,
    stream: str,
    group: str,
    rows: Sequence[PendingEntry],
    *,
    position: EntryId | None,
    snapshot: str = "",
) -> GivenBack:
    """Give back those of at most a thousand rows whose owner is still the same.

    Args:
        server: Where.
        stream: The stream.
        group: Its group.
        rows: The rows as the plan saw them.
        position: The group must not stand before it; none asks for the group alone.
        snapshot: The hash that is to keep the rows as they were; empty to be told them.
    """
    arguments = [group, optional(position), str(SECONDS_KEPT)]
    arguments.append(str(GIVEN_BACK // timedelta(milliseconds=1)))
    for row in rows:
        arguments += (str(row.id), row.consumer)
    call = Call(stream, tuple(arguments), _given_back, (snapshot,) if snapshot else ())
    return await write_script(server, "nack", call, f"group {stream}/{group}")


def _given_back(reply: Sequence[Reply]) -> GivenBack:
    count, rows, alone, why = reply
    left = tuple((one.decode(), reason.decode()) for one, reason in zip(alone, why, strict=True))
    return GivenBack(count, rows, left)


class Unhandled(NamedTuple):
    """Where a group's workers look for such entries.

    Attributes:
        key: The sorted set.
        prefix: What its members begin with, before an ID of the stream or retry stream in question.
    """

    key: str
    prefix: str


async def note_unhandled(server: Server, place: Unhandled, ids: Sequence[EntryId | str]) -> Fault | None:
    """Note some thousand entries at most; noting one twice does no harm.

    Raises:
        ServerError: The server did not answer.
    """
    call = Call(place.key, tuple(f"{place.prefix}{one}" for one in ids), int)
    noted = await try_script(server, "note_unhandled", call)
    return noted if isinstance(noted, Fault) else None
