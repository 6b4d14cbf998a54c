"""What is read of one entry alone: whose it is in each group, and how many of its starts were marked."""

from collections.abc import Sequence

from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.wire.batches import Request
from streamops.wire.faults import Fault
from streamops.wire.keys import attempts_key
from streamops.wire.numbers import number
from streamops.wire.reads import PendingRange, read_pending
from streamops.wire.server import Server


async def read_owners(
    server: Server, stream: str, groups: Sequence[str], entry_id: EntryId
) -> list[PendingEntry | Fault | None]:
    """The pending row of an entry in each group; none where it has none there."""
    after = entry_id.previous() if entry_id > EntryId(0, 0) else None
    pages = await read_pending(server, [PendingRange(stream, group, after, 1) for group in groups])
    return [page if isinstance(page, Fault) else _row(page, entry_id) for page in pages]


async def read_marks(
    server: Server, stream: str, groups: Sequence[str], entry_id: EntryId
) -> list[int | None]:
    """How many starts of an entry were marked in each group; none where that may not be read."""
    keys = [attempts_key(stream, group) for group in groups]
    answers = await server.batch([Request(key, ("HGET", key, str(entry_id))) for key in keys])
    return list(map(_count, answers.replies))


def _row(page: Sequence[PendingEntry], entry_id: EntryId) -> PendingEntry | None:
    return page[0] if page and page[0].id == entry_id else None


def _count(reply: object) -> int | None:
    if reply is None:
        return 0
    return number(reply) if isinstance(reply, bytes) else None
