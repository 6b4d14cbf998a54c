"""Deleting entries by their IDs."""

from collections.abc import Sequence

from streamops.model.ids import EntryId
from streamops.wire.faults import Fault, FaultKind
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server


async def delete(
    server: Server, stream: str, ids: Sequence[EntryId], *, positions: Sequence[tuple[str, EntryId]]
) -> frozenset[EntryId] | Fault:
    """Delete those that are there; which they were.

    Args:
        server: Where.
        stream: The stream.
        ids: At most a thousand IDs: what one script call does, nobody else can do anything beside.
        positions: The groups that the plan saw, none of which may be missing, new, or set back.
    """
    groups = (part for name, position in positions for part in (name, str(position)))
    reply: frozenset[EntryId] | Fault = await write_script(
        server,
        "delete",
        Call(
            stream,
            (len(positions), *groups, *map(str, ids)),
            lambda deleted: frozenset(map(EntryId.parse, deleted)),
        ),
    )
    return reply


def spared(ids: Sequence[EntryId], deleted: frozenset[EntryId] | Fault) -> list[EntryId]:
    """Those of the IDs that were certainly not deleted by that call."""
    if isinstance(deleted, Fault):
        return [*ids] if deleted.kind is FaultKind.DRIFT else []
    return [one for one in ids if one not in deleted]
