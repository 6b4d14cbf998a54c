"""What each group loses by a trim that heeds none: entries it has yet to read, and entries that are pending.

Of groups at the beginning or beyond the cut that is known. Of others it is counted, as far as a plan may take: what is
more has bounds, and so has what may have gone while it was counted. A lag that the server reports has no part in it, as
it can be too low: where somebody gave the group a wrong ENTRIESREAD.
"""

from collections import Counter
from typing import Final

from streamops.model.acts.trim import GroupLoss
from streamops.model.entries import Amount, PendingEntry
from streamops.model.ids import EntryId
from streamops.model.readings import GroupReading
from streamops.monitor.inspection import Look
from streamops.operate.operations.trimming import unread_below
from streamops.operate.operations.walking import count_after_each
from streamops.wire.faults import Fault
from streamops.wire.pending_at_once import read_pending_at_once
from streamops.wire.reads import PendingRange, read_pending, read_pending_summary
from streamops.wire.server import Server

MOST_UNREAD: Final = 1_000_000
"""Entries that are counted for all groups of a stream together."""

MOST_PENDING: Final = 100_000
"""Pending rows of one group that are counted from either end."""

PAGE: Final = 1_000

MOST_NEWER: Final = 2_000
"""Pending rows that may have come while a group's were counted: with more, it is not known whether any went."""

Owners = tuple[tuple[str, int], ...]


async def read_losses(server: Server, look: Look, cut: EntryId, removable: Amount) -> tuple[GroupLoss, ...]:
    """What each group of a stream loses where all entries below an ID go, so many of them.

    Raises:
        ServerError: Entries or pending rows cannot be read.
    """
    unread = await _unread(server, look, cut, removable)
    return tuple(
        [
            GroupLoss(group.name, unread[group.name], *await _pending_below(server, look, group, cut))
            for group in look.reading.groups
        ]
    )


async def _unread(server: Server, look: Look, cut: EntryId, removable: Amount) -> dict[str, Amount]:
    """Entries below the cut that each group has yet to read."""
    told = {
        group.name: unread_below(look.reading, group.last_delivered_id, cut, removable)
        for group in look.reading.groups
    }
    unknown = {
        group.name: group.last_delivered_id for group in look.reading.groups if not told[group.name].exact
    }
    counted = await count_after_each(server, look, unknown.values(), cut, most=MOST_UNREAD)
    return told | {name: _narrowed(told[name], counted[position]) for name, position in unknown.items()}


def _narrowed(told: Amount, counted: Amount) -> Amount:
    """What both say; where they disagree, what was counted."""
    if counted.exact:
        return counted
    lower = max(told.lower, counted.lower)
    return Amount(lower, max(lower, min(told.upper, counted.upper)))


async def _pending_below(
    server: Server, look: Look, group: GroupReading, cut: EntryId
) -> tuple[Owners, bool]:
    """A group's pending entries below an ID, by consumer, the most first; and whether these are all."""
    if group.oldest_pending is None or group.oldest_pending.id >= cut:
        return (), True
    stream = look.reading.name
    summary = await read_pending_summary(server, stream, group.name)
    if isinstance(summary, Fault):
        raise summary.error(f"group {stream}/{group.name}")
    _, _, greatest, owners = summary
    counts, complete = Counter(dict(owners)), True
    if greatest is not None and greatest >= cut:
        counts, complete = await _counted_below(
            server, PendingRange(stream, group.name, None, PAGE), (cut, greatest), counts
        )
    return tuple(counts.most_common()), complete


async def _counted_below(
    server: Server, start: PendingRange, bounds: tuple[EntryId, EntryId], every: Counter[str]
) -> tuple[Counter[str], bool]:
    """Rows below an ID by consumer, counted from the nearer end; and whether these are all.

    Args:
        server: The server.
        start: The first page of the group's list.
        bounds: The ID, and that of the last row that ``every`` has: what came later is no part of it.
        every: All rows of the group by consumer.
    """
    cut, greatest = bounds
    below, above = Counter[str](), Counter[str]()
    low, high = start, start._replace(after=cut.previous())
    since = start._replace(after=greatest, limit=MOST_NEWER)
    while below.total() < MOST_PENDING:
        rows = await _rows(server, low)
        beyond = [row for row in await _rows(server, high) if row.id <= greatest]
        below.update(row.consumer for row in rows if row.id < cut)
        if len(rows) < PAGE or rows[-1].id >= cut:
            # One page is as it was at its own instant.
            return below, low is start or await _removed_since(server, since, every) == Counter()
        above.update(row.consumer for row in beyond)
        if len(beyond) < PAGE:
            return _certain(below, every - above, await _removed_since(server, since, every))
        low, high = low._replace(after=rows[-1].id), high._replace(after=beyond[-1].id)
    return below, False


def _certain(
    below: Counter[str], rest: Counter[str], removed: Counter[str] | None
) -> tuple[Counter[str], bool]:
    """What is known of the rows below an ID; and whether these are all.

    Args:
        below: Those that were counted.
        rest: All rows but those that were counted above it.
        removed: Rows that are gone since all were counted, some of which may have been above and not counted there.
    """
    if removed is None:
        return below, False
    return max(rest - removed, below, key=Counter.total), not removed


async def _removed_since(server: Server, since: PendingRange, every: Counter[str]) -> Counter[str] | None:
    """Rows by consumer that a group had and has no more; none where that cannot be told.

    Args:
        server: The server.
        since: What came after the last row that it had.
        every: All rows that it had.
    """
    told = await read_pending_at_once(server, since)
    if told is None or len(told[1]) == since.limit:
        return None
    left = Counter(told[0])
    left.subtract(row.consumer for row in told[1])
    # Rows that came between those that it had, as claims can make them, leave nothing to conclude.
    return None if left.total() > every.total() else every - left


async def _rows(server: Server, page: PendingRange) -> tuple[PendingEntry, ...]:
    rows = (await read_pending(server, [page]))[0]
    if isinstance(rows, Fault):
        raise rows.error(f"group {page.stream}/{page.group}")
    return rows
