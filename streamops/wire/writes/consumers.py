"""Removing consumers."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

from streamops.model.entries import EntryId
from streamops.wire.node import Argument
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, optional, write_script
from streamops.wire.server import Server


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
