"""Deleting entries by their IDs."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from streamops.model.entries import EntryId
from streamops.model.streams import Flavour, ServerNode
from streamops.wire.batches import Request
from streamops.wire.node import Argument
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

REFERENCES_SOUND: Final = (8, 2, 3)


def references_are_sound(nodes: Sequence[ServerNode]) -> bool:
    """Whether these servers heed pending rows: XDELEX, and XTRIM's ``ACKED`` and ``DELREF`` in its exact form.

    Source: tried on Redis 8.2.3, whose approximate form removes nothing with either word. Pending rows of entries
    that were deleted before stay; redis #15581.
    """
    return bool(nodes) and all(
        node.flavour is Flavour.REDIS and node.version >= REFERENCES_SOUND for node in nodes
    )


async def has_xdelex(server: Server, stream: str) -> bool:
    """Whether the server that serves a stream has XDELEX (Redis 8.2)."""
    reply = (await server.batch([Request(stream, ("COMMAND", "INFO", "XDELEX"))])).replies[0]
    return isinstance(reply, list) and bool(reply and reply[0])


class Deleting(NamedTuple):
    """What is deleted from, and how.

    Attributes:
        stream: The stream.
        positions: The groups that the plan saw, none of which may be missing, new, or set back.
        references: Whether pending rows go with their entries, by XDELEX.
        what: What an error is said of; the stream unless given.
    """

    stream: str
    positions: Sequence[tuple[str, EntryId]]
    references: bool = False
    what: str = ""


async def delete(server: Server, how: Deleting, ids: Sequence[EntryId]) -> frozenset[EntryId]:
    """Delete those of at most a thousand IDs that are there; which they were."""
    words = delete_words(ids, how.positions, references=how.references)
    call = Call(how.stream, words, _deleted)
    return await write_script(server, "delete", call, how.what or f"stream {how.stream}")


def delete_words(
    ids: Sequence[EntryId], positions: Sequence[tuple[str, EntryId]], *, references: bool
) -> tuple[Argument, ...]:
    """What ``delete.lua`` is told."""
    groups = (part for name, position in positions for part in (name, str(position)))
    return "DELREF" if references else "", len(positions), *groups, *map(str, ids)


def _deleted(reply: Sequence[bytes]) -> frozenset[EntryId]:
    return frozenset(map(EntryId.parse, reply))
