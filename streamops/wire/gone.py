"""Looking for entries that no longer exist, without decoding those that do."""

from collections.abc import Sequence
from typing import Final

from streamops.model.entries import EntryId
from streamops.model.pending import DeletedPending
from streamops.wire.batches import Request
from streamops.wire.faults import fault
from streamops.wire.node import Reply
from streamops.wire.server import Server

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
