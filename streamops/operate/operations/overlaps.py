"""Which of the entries between two IDs are pending, and whose."""

from collections import Counter
from typing import Final

from streamops.model.acts.groups import Overlap
from streamops.model.ids import EntryId
from streamops.wire.faults import Fault
from streamops.wire.reads import PendingRange, read_pending, read_pending_summary
from streamops.wire.server import Server

PAGE: Final = 1_000
SCANNED: Final = 1_000_000
"""Rows that are looked at; where there are more, they are only partly told."""


async def read_overlap(server: Server, stream: str, group: str, after: EntryId, until: EntryId) -> Overlap:
    """The pending rows after one ID and not after another; raises ``ServerError`` where they cannot be read."""
    summary = await read_pending_summary(server, stream, group)
    if isinstance(summary, Fault):
        raise summary.error(f"group {stream}/{group}")
    pending, smallest, greatest, owners = summary
    if smallest is None or greatest is None or smallest > until or greatest <= after:
        return Overlap()
    if smallest > after and greatest <= until:
        return Overlap(pending, _most_first(dict(owners)))
    return await _counted(server, stream, group, after, until)


async def _counted(server: Server, stream: str, group: str, after: EntryId, until: EntryId) -> Overlap:
    found: Counter[str] = Counter()
    scanned = 0
    while scanned < SCANNED:
        rows = (await read_pending(server, [PendingRange(stream, group, after, PAGE)]))[0]
        if isinstance(rows, Fault):
            raise rows.error(f"group {stream}/{group}")
        found.update(row.consumer for row in rows if row.id <= until)
        if len(rows) < PAGE or rows[-1].id >= until:
            return Overlap(found.total(), _most_first(found))
        scanned, after = scanned + len(rows), rows[-1].id
    return Overlap(found.total(), _most_first(found), complete=False)


def _most_first(owners: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(owners.items(), key=lambda owner: (-owner[1], owner[0])))
