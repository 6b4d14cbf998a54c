"""Adding one entry."""

from collections.abc import Sequence
from typing import Final

from streamops.model.entries import EntryId
from streamops.wire.faults import Fault, FaultKind, required
from streamops.wire.server import Server

_TOO_SMALL: Final = "equal or smaller"


async def add_entry(
    server: Server,
    stream: str,
    fields: Sequence[tuple[bytes, bytes]],
    *,
    entry_id: str | None = None,
) -> EntryId:
    """Add an entry; its ID.

    Args:
        server: Where.
        stream: The stream; created where there is none.
        fields: Field and value pairs, in their order.
        entry_id: Its ID; the server's choice unless given.
    """
    parts = [part for pair in fields for part in pair]
    reply = await server.single(stream, "XADD", stream, entry_id or "*", *parts)
    if isinstance(reply, Exception) and _TOO_SMALL in str(reply):
        reply = Fault(FaultKind.DRIFT, "an entry with a greater ID has been added")
    return EntryId.parse(required(reply, f"stream {stream}"))
