"""Creating, moving and destroying groups; removing their consumers."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from streamops.model.entries import EntryId
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, optional, write_script
from streamops.wire.server import Server
from streamops.wire.writes.audit import SECONDS_KEPT


class Position(NamedTuple):
    """A group's position, and the server's counter of what it read; None if it has none."""

    at: EntryId
    entries_read: int | None


class SetPosition(NamedTuple):
    """What setting a group's position came to.

    Attributes:
        before: Where it stood; None if it was not set, because it had moved on too far to count that.
        at: The position that it had, or has.
        grown: Entries that it is given again although the plan did not count them.
    """

    before: Position | None
    at: EntryId
    grown: int


async def create_group(
    server: Server, stream: str, group: str, *, at: str, entries_read: int | None, mkstream: bool
) -> Position:
    """Create a group; where it stands.

    Args:
        server: Where.
        stream: The stream; there must be None if ``mkstream`` says that it is to be created.
        group: The group; there must be none of that name.
        at: Where it begins: an ID, or ``$`` for the end at that moment.
        entries_read: The counter that goes with an ID; the script knows the one of ``$`` itself.
        mkstream: Create the stream too.
    """
    arguments = (group, at, optional(entries_read), "1" if mkstream else "")
    return await write_script(
        server, "group_create", Call(stream, arguments, _position), f"group {stream}/{group}"
    )


async def set_group(
    server: Server,
    stream: str,
    group: str,
    *,
    floor: EntryId,
    target: EntryId,
    entries_read: int | None,
    back: bool,
    counted_to: EntryId,
    most_grown: int,
    most_bytes: int,
    snapshot: str = "",
) -> SetPosition:
    """Set a group's position.

    Args:
        server: Where.
        stream: The stream.
        group: The group.
        floor: It must not stand before this.
        target: Where to set it.
        entries_read: The counter that goes with that; none leaves it to the server.
        back: Whether it is set back: then what it has been given beyond ``counted_to`` is counted first.
        counted_to: Up to where the entries it would be given again have been counted.
        most_grown: How many more it may be. The script walks over them: some hundreds.
        most_bytes: How many bytes those may have.
        snapshot: The hash that is to keep where it stood; empty to return them.
    """
    arguments: tuple[Argument, ...] = (
        group,
        str(floor),
        str(target),
        optional(entries_read),
        "back" if back else "forward",
        str(counted_to),
        most_grown,
        most_bytes,
        SECONDS_KEPT,
    )
    more_keys = (snapshot,) if snapshot else ()
    return await write_script(
        server, "group_set", Call(stream, arguments, _set, more_keys), f"group {stream}/{group}"
    )


async def empty_group(
    server: Server, stream: str, group: str, ids: Sequence[EntryId], *, position: EntryId, most: int
) -> int:
    """Take rows off a group's pending entries list before it is destroyed; how many were on it.

    Args:
        server: Where.
        stream: The stream.
        group: The group.
        ids: The rows' IDs, at most a thousand.
        position: Where it must stand.
        most: How many rows it may have.
    """
    arguments: tuple[Argument, ...] = (group, str(position), most, *map(str, ids))
    return await write_script(server, "group_empty", Call(stream, arguments, int), f"group {stream}/{group}")


async def destroy_group(server: Server, stream: str, group: str, *, position: EntryId, most: int) -> int:
    """Destroy a group that stands at ``position`` with at most ``most`` rows pending; how many were."""
    arguments = (group, str(position), most)
    return await write_script(
        server, "group_destroy", Call(stream, arguments, int), f"group {stream}/{group}"
    )


def _position(reply: Sequence[Reply]) -> Position:
    return Position(EntryId.parse(reply[0]), reply[1])


def _set(reply: Sequence[Reply]) -> SetPosition:
    at = EntryId.parse(reply[1])
    return SetPosition(Position(at, reply[2]), at, reply[3]) if reply[0] else SetPosition(None, at, 0)


class Pruned(StrEnum):
    """What became of a consumer that was to be removed if it was idle."""

    REMOVED = "removed"
    GONE = "gone"
    PENDING = "pending"
    ACTIVE = "active"


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


def _pruned(reply: Sequence[bytes]) -> list[Pruned]:
    return [Pruned(decode_name(one)) for one in reply]
