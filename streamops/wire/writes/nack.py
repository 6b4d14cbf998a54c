"""Giving pending entries back."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct

from streamops.model.entries import GIVEN_BACK, EntryId, PendingEntry
from streamops.wire.node import Reply
from streamops.wire.script_calls import Call, optional, write_script
from streamops.wire.server import Server
from streamops.wire.writes.undo_snapshots import SECONDS_KEPT


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
