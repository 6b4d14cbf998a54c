"""Reclaiming a group's stale pending entries: pages of them looked at, and scripts that judge each again as they act.

Claiming is ``wire.writes.claim``'s and giving up is ``wire.consuming.settling``'s; adding again is only done here.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from streamops.model.entries import LAST_ID, EntryId, PendingEntry
from streamops.model.pending import StaleRow
from streamops.wire.keys import replayed_key
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, read_script, write_script
from streamops.wire.server import Server

PAGE: Final = 500
"""Rows that one call looks at."""

BATCH: Final = 250
"""Rows that one call deals with at most: about 3 ms of the server's time."""

BATCH_BYTES: Final = 1 << 20
"""Bytes of entries after which a call looks no further."""

NOBODY: Final = "__replay__"
"""Who owns entries that were given back to a group, until one of its consumers claims them."""


class Reclaimable(NamedTuple):
    """Which pending entries are reclaimed.

    Attributes:
        stream: The stream.
        group: Its group.
        min_idle: Idle for at least so long.
        max_deliveries: Delivered so often, they become dead letters.
        to: Who gets them by a claim; empty if they are added again.
    """

    stream: str
    group: str
    min_idle: timedelta
    max_deliveries: int
    to: str = ""

    @property
    def min_idle_ms(self) -> int:
        """The least idle time as the server wants it, rounded up."""
        return -(-self.min_idle // timedelta(milliseconds=1))


class StalePage(Struct, frozen=True):
    """What one call saw.

    Attributes:
        rows: Those that something is to be done with.
        waiting: How many are left to the consumer that they were given to.
        last_id: The last ID that was looked at; None if there was none.
        ended: Whether there are no more.
    """

    rows: tuple[StaleRow, ...]
    waiting: int
    last_id: EntryId | None
    ended: bool


async def look_at_stale(
    server: Server,
    what: Reclaimable,
    *,
    after: EntryId | None,
    until: EntryId = LAST_ID,
    most: int = PAGE,
) -> StalePage:
    """Look at the next page of a group's pending entries, writing nothing.

    No permission to write is asked for where the server has the read-only form of scripts, which Redis 7.0 brought.

    Args:
        server: Where.
        what: Which entries.
        after: Begin after this ID; none for the beginning.
        until: Go no further than to this ID.
        most: Stop at this many that something is to be done with.

    Raises:
        ServerError: It was refused, or the node did not answer.
    """
    arguments: tuple[Argument, ...] = (
        what.group,
        what.to,
        what.min_idle_ms,
        what.max_deliveries,
        "-" if after is None else f"({after}",
        str(until),
        PAGE,
        most,
        BATCH_BYTES,
    )
    call = Call(what.stream, arguments, _page, (replayed_key(what.stream),))
    return await read_script(server, "reclaim_look", call, f"group {what.stream}/{what.group}")


async def add_anew(
    server: Server, what: Reclaimable, rows: Sequence[StaleRow], others: Sequence[str]
) -> list[str | None]:
    """Add entries to their stream again and acknowledge them, each in one step.

    Args:
        server: Where.
        what: For how long they must still be idle.
        rows: Some hundred of them.
        others: The stream's other groups, which get them too: with another one nothing is done.

    Returns:
        Of each why it could not be added, empty if it was; None if it is not stale any more. Of fewer where no
        more can be added.
    """
    each = (part for row in rows for part in (str(row.entry.id), row.origin, row.entry.delivery_count + 1))
    arguments = (what.group, what.min_idle_ms, len(others), *others, *each)
    call = Call(what.stream, arguments, _added, (replayed_key(what.stream),))
    return await write_script(server, "reclaim_add", call, f"group {what.stream}/{what.group}")


def _page(reply: Sequence[Reply]) -> StalePage:
    last, ended, waiting, rows = reply
    return StalePage(tuple(map(_row, rows)), waiting, EntryId.parse(last) if last else None, bool(ended))


def _row(row: Sequence[Reply]) -> StaleRow:
    ident, owner, idle_ms, deliveries, fate, origin = row
    entry = PendingEntry(
        EntryId.parse(ident), decode_name(owner), timedelta(milliseconds=idle_ms), deliveries
    )
    return StaleRow(entry, fate.decode(), decode_name(origin))


def _added(reply: Sequence[Reply]) -> list[str | None]:
    words = {0: None, 1: ""}
    return [decode_name(why[0]) if why else words[came] for came, *why in reply]
