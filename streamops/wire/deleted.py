"""Which pending entries were deleted from the midst of their stream: nothing but a look at each of them tells."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from streamops.model.entries import EntryId
from streamops.wire.faults import FaultKind, fault
from streamops.wire.node import Reply
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Server

BYTES_PER_CALL: Final = 1 << 20
"""Bytes of entries that one call looks at: they are copied inside the server."""

NOT_THERE: Final = frozenset({FaultKind.UNSUPPORTED, FaultKind.DENIED})


class Deleted(Struct, frozen=True):
    """What one look came to.

    Attributes:
        looked: How many entries were looked for, from the first on.
        gone: How many of them are not in the stream.
        first: The place of the first of these among them; none where all are there.
    """

    looked: int = 0
    gone: int = 0
    first: int | None = None


async def look_for_deleted(server: Server, pages: Sequence[tuple[str, Sequence[EntryId]]]) -> list[Deleted]:
    """Look for entries, those of a stream and their IDs together; nothing is known where no script may be run."""
    calls = [Call(stream, (BYTES_PER_CALL, *map(str, ids)), _deleted) for stream, ids in pages]
    found: list[Reply] = []
    # Redis 7.0 brought the form that needs no permission to write.
    for read_only in (True, False):
        found = (await run_script(server, "deleted_rows", calls, read_only=read_only)).replies
        if not any(isinstance(one, Exception) and fault(one).kind in NOT_THERE for one in found):
            break
    return [Deleted() if isinstance(one, Exception) else one for one in found]


def _deleted(reply: Reply) -> Deleted:
    looked, gone, first = reply
    return Deleted(looked, gone, first - 1 if first else None)
