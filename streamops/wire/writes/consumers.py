"""Handing pending entries over, and removing consumers."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from streamops.model.entries import EntryId
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, optional, write_script
from streamops.wire.server import Server
from streamops.wire.writes.undo_snapshots import SECONDS_KEPT


class HandedOver(NamedTuple):
    """What one batch came to.

    Attributes:
        moved: How many rows have a new owner.
        rows: They as they were, packed, where nothing keeps them beside the stream.
        gone: Rows that the server took off the list, because their entries are gone.
        last_id: Where to go on after; none where there was nothing.
    """

    moved: int
    rows: bytes
    gone: tuple[EntryId, ...]
    last_id: EntryId | None


class Pruned(StrEnum):
    """What became of a consumer that was to be removed if it was idle."""

    REMOVED = "removed"
    GONE = "gone"
    PENDING = "pending"
    ACTIVE = "active"


async def hand_over(
    server: Server,
    stream: str,
    group: str,
    *,
    floor: EntryId | None,
    source: str,
    target: str,
    after: EntryId | None,
    count: int,
    most: int | None,
    snapshot: str = "",
) -> HandedOver:
    """Hand pending entries of one consumer to another one, with their idle times and counts.

    Args:
        server: Where.
        stream: The stream.
        group: The group.
        floor: It must not stand before this; none asks for the group alone.
        source: From whom.
        target: To whom; created where there is none of that name.
        after: Begin after this row; none for the first.
        count: How many rows: some hundreds.
        most: Refuse where ``source`` has more rows than this; none where that was asked before.
        snapshot: The hash that is to keep the rows as they were; empty to be told them.
    """
    arguments: tuple[Argument, ...] = (
        group,
        optional(floor),
        source,
        target,
        optional(after),
        count,
        optional(most),
        SECONDS_KEPT,
    )
    call = Call(stream, arguments, _handed_over, (snapshot,) if snapshot else ())
    return await write_script(server, "consumer_hand_over", call, f"consumer {stream}/{group}/{source}")


async def remove_consumer(
    server: Server, stream: str, group: str, consumer: str, *, floor: EntryId | None
) -> bool:
    """Remove a consumer with nothing pending; whether that was so."""
    arguments = (group, optional(floor), consumer)
    what = f"consumer {stream}/{group}/{consumer}"
    return await write_script(server, "consumer_remove", Call(stream, arguments, bool), what)


async def prune_consumers(
    server: Server,
    stream: str,
    group: str,
    consumers: Sequence[str],
    *,
    floor: EntryId | None,
    idle: timedelta | None,
) -> list[Pruned]:
    """Remove those of some hundred consumers that have nothing pending and are idle; what became of each.

    Without an idle time only pending entries are looked at: for groups of thousands of consumers.
    """
    least = None if idle is None else idle // timedelta(milliseconds=1)
    arguments: tuple[Argument, ...] = (group, optional(floor), optional(least), *consumers)
    return await write_script(
        server, "consumer_prune", Call(stream, arguments, _pruned), f"group {stream}/{group}"
    )


def _handed_over(reply: Sequence[Reply]) -> HandedOver:
    moved, rows, gone, last = reply
    return HandedOver(moved, rows, tuple(map(EntryId.parse, gone)), EntryId.parse(last) if last else None)


def _pruned(reply: Sequence[bytes]) -> list[Pruned]:
    return [Pruned(decode_name(one)) for one in reply]
