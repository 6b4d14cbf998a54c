"""Deleting entries by their IDs."""

from collections.abc import Sequence

from streamops.model.ids import EntryId
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.node import Argument
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server


async def has_xdelex(server: Server, stream: str) -> bool:
    """Whether the server that serves a stream has XDELEX (Redis 8.2)."""
    reply = (await server.batch([Request(stream, ("COMMAND", "INFO", "XDELEX"))])).replies[0]
    return isinstance(reply, list) and bool(reply and reply[0])


async def delete(
    server: Server,
    stream: str,
    ids: Sequence[EntryId],
    *,
    positions: Sequence[tuple[str, EntryId]],
    references: bool = False,
) -> frozenset[EntryId] | Fault:
    """Delete those that are there; which they were.

    Args:
        server: Where.
        stream: The stream.
        ids: At most a thousand IDs: what one script call does, nobody else can do anything beside.
        positions: The groups that the plan saw, none of which may be missing, new, or set back.
        references: Whether their pending rows go with them, by XDELEX.
    """
    words = delete_words(ids, positions, references=references)
    reply: frozenset[EntryId] | Fault = await write_script(
        server, "delete", Call(stream, words, lambda deleted: frozenset(map(EntryId.parse, deleted)))
    )
    return reply


def delete_words(
    ids: Sequence[EntryId], positions: Sequence[tuple[str, EntryId]], *, references: bool
) -> tuple[Argument, ...]:
    """What ``delete.lua`` is told."""
    groups = (part for name, position in positions for part in (name, str(position)))
    return "DELREF" if references else "", len(positions), *groups, *map(str, ids)


def spared(ids: Sequence[EntryId], deleted: frozenset[EntryId] | Fault) -> list[EntryId]:
    """Those of the IDs that were certainly not deleted by that call."""
    if isinstance(deleted, Fault):
        return [*ids] if deleted.kind is FaultKind.DRIFT else []
    return [one for one in ids if one not in deleted]
