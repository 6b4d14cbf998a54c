"""Finding pending entries that no longer exist: deleted from within their stream, or trimmed off it."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from streamops.model.entries import EntryId
from streamops.model.pending import DeletedPending
from streamops.wire.batches import Request
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


SAMPLE: Final = 10
MAX_BYTES: Final = 256 << 20
"""So much payload is shipped to look at entries; there is no way to ask for their IDs alone."""

BATCH_BYTES: Final = 4 << 20


class GoneSearch:
    """Counts entries that no longer exist, as long as that does not ship too much.

    Attributes:
        found: What was found so far.
    """

    def __init__(self, server: Server, stream: str, entry_bytes: int) -> None:
        """Begin.

        Args:
            server: Where.
            stream: The stream.
            entry_bytes: What one of its entries weighs.
        """
        self._server = server
        self._stream = stream
        self._weight = max(1, entry_bytes)
        self.found = DeletedPending()

    async def look_at(self, ids: Sequence[bytes]) -> None:
        """Look at some entries, lowest first; raises ``ServerError`` where that fails."""
        step = max(1, BATCH_BYTES // self._weight)
        for at in range(0, len(ids), step):
            if self.found.looked * self._weight < MAX_BYTES:
                await self._look_at(ids[at : at + step])

    async def _look_at(self, ids: Sequence[bytes]) -> None:
        # Entries that wait are mostly neighbours: one range has them all, or most of them.
        existing = await self._range(ids[0], ids[-1], len(ids))
        if missing := [one for one in ids if one not in existing]:
            existing |= await self._each(missing)
        gone = [one for one in missing if one not in existing]
        found = self.found
        sample = [EntryId.parse(one) for one in gone[: SAMPLE - len(found.sample)]]
        self.found = DeletedPending(
            found.looked + len(ids), found.count + len(gone), (*found.sample, *sample)
        )

    async def _range(self, first: bytes, last: bytes, count: int) -> set[bytes]:
        return _ids(
            await self._server.single(self._stream, "XRANGE", self._stream, first, last, "COUNT", count)
        )

    async def _each(self, ids: Sequence[bytes]) -> set[bytes]:
        requests = [Request(self._stream, ("XRANGE", self._stream, one, one, "COUNT", 1)) for one in ids]
        replies = (await self._server.batch(requests)).replies
        return {found for reply in replies for found in _ids(reply)}


def _ids(reply: Reply) -> set[bytes]:
    if isinstance(reply, Exception):
        raise fault(reply).error("the entries")
    return {row[0] for row in reply}
